/* The thread that writes all tapes to the timeline's file, which is complete JSON after each write or failure.
 *
 * Invariants:
 * 1. The file has complete events up to `size`, followed by the tail, which ends the JSON.
 *    Appending overwrites the tail and writes a new one.
 * 2. If appending fails midway, there is still room for the tail at its old place: it is written
 *    there again, and the file is truncated after it.
 */
#include "timeline_writer.h"

#include "iowq.h"
#include "tapes.h"
#include "base/thread.h"
#include "timeline_json.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/json.h>
#include <eddy/log.h>
#include <eddy/loop.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define TARGET "eddy::timeline"
/* Time between writes, even of little data; the most that is lost in a crash. */
#define PERIOD_NS (100 * EDDY_MS)
/* Size of a write, after which tapes have room again. */
#define TEXT_SIZE (64 * EDDY_KIB)
#define HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
#define PATH_SIZE 4096
/* Fixed size of the text after the events. */
#define TAIL_SIZE 256

/* ---- the file ---- */

struct file {
	int fd;
	int error;        /* -errno of the first failed write; then writing stops */
	uint64_t size;    /* up to the last event */
	uint64_t max;     /* including the tail */
	uint64_t records; /* in the file */
	uint64_t dropped;
	unsigned sample;
	uint64_t began_ns; /* on the monotonic clock */
	bool is_recounted; /* the counts changed since the tail was written */
};

/* Replace "%p" by the process id. Return: 0, -ENAMETOOLONG. */
static int expand(const char *path, char text[PATH_SIZE])
{
	const char *at = strstr(path, "%p");
	int len;

	if (at)
		len = snprintf(text, PATH_SIZE, "%.*s%d%s", (int)(at - path), path, (int)getpid(),
			       at + 2);
	else
		len = snprintf(text, PATH_SIZE, "%s", path);
	return len < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

/* Write both parts. Return: 0, -errno. */
static int write_at(int fd, const struct iovec parts[2], uint64_t offset)
{
	struct iovec left[2] = { parts[0], parts[1] };

	while (left[0].iov_len + left[1].iov_len) {
		ssize_t done = pwritev(fd, left, 2, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -ENOSPC;
		offset += (uint64_t)done;
		for (int i = 0; i < 2; i++) {
			size_t taken = (size_t)done < left[i].iov_len ? (size_t)done :
									left[i].iov_len;

			/* An empty part may be NULL, on which arithmetic is undefined. */
			if (!taken)
				continue;
			left[i].iov_base = (char *)left[i].iov_base + taken;
			left[i].iov_len -= taken;
			done -= (ssize_t)taken;
		}
	}
	return 0;
}

static void make_tail(const struct file *file, char tail[TAIL_SIZE + 1])
{
	static const char end[] = "}}\n";
	struct eddyi_text json = { .at = tail, .end = tail + TAIL_SIZE };

	eddyi_text(&json, "\n],");
	eddyi_json_open(&json, "otherData", "{");
	eddyi_json_name(&json, "records");
	eddyi_json_u64(&json, file->records);
	eddyi_json_name(&json, "dropped");
	eddyi_json_u64(&json, file->dropped);
	eddyi_json_name(&json, "sample");
	eddyi_json_u64(&json, file->sample);
	eddyi_json_name(&json, "began_ns");
	eddyi_json_u64(&json, file->began_ns);
	/* In place of the last comma. Some readers stop at the last brace, and treat data that
	 * arrives later as an error. */
	memset(json.at - 1, ' ', (size_t)(json.end - json.at) + 1);
	strcpy(json.end - strlen(end), end);
}

/* Write events after the existing ones, then the tail. */
static int write_end(struct file *file, const char *events, size_t len)
{
	char tail[TAIL_SIZE + 1];
	struct iovec parts[2] = { { (void *)(uintptr_t)events, len }, { tail, TAIL_SIZE } };

	make_tail(file, tail);
	file->is_recounted = false;
	return write_at(file->fd, parts, file->size);
}

static int open_path(const char *path)
{
	char text[PATH_SIZE];
	struct stat stat;
	int r = expand(path, text), fd;

	if (r < 0)
		return r;
	/* Don't wait for a pipe's reader. */
	fd = open(text, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	if (fd < 0)
		return -errno;
	if (lseek(fd, 0, SEEK_CUR) < 0)
		r = -ESPIPE;
	else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		r = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (fstat(fd, &stat) < 0 || (S_ISREG(stat.st_mode) && ftruncate(fd, 0) < 0))
		r = -errno;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

/* Close the file if it is open. */
static void file_close(struct file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* Create or truncate the file and write `first`, an event. "%p" in the path becomes the process id.
 * Return: 0; -EBUSY if another process writes it; -ESPIPE; errors of open(2) and write(2). */
static int file_open(struct file *file, const char *path, uint64_t max, unsigned sample,
		     uint64_t began_ns, const char *first)
{
	const struct iovec head[2] = { { (void *)(uintptr_t)HEAD, strlen(HEAD) } };
	int r;

	*file = (struct file){
		.fd = open_path(path),
		.size = strlen(HEAD),
		.max = max,
		.sample = sample,
		.began_ns = began_ns,
	};
	if (file->fd < 0)
		return file->fd;
	r = write_at(file->fd, head, 0);
	if (r == 0)
		r = write_end(file, first, strlen(first));
	file->size += strlen(first);
	if (r < 0)
		file_close(file);
	return r;
}

/* Get the remaining bytes for events. */
static uint64_t file_room(const struct file *file)
{
	uint64_t used = file->size + TAIL_SIZE;

	return used < file->max ? file->max - used : 0;
}

static void file_drop(struct file *file, uint64_t records)
{
	file->dropped += records;
	file->is_recounted |= records > 0;
}

/* Update the counts in the file. */
static void file_settle(struct file *file)
{
	if (file->is_recounted)
		write_end(file, NULL, 0);
}

/* Append all events for `records` records, each after a comma, or drop them all.
 * Return: 0; -errno of the first failure, also of an earlier call; -EFBIG if it is full. */
static int file_append(struct file *file, const char *events, size_t len, uint64_t records)
{
	if (!file->error && len > file_room(file))
		file->error = -EFBIG;
	if (file->error) {
		file_drop(file, records);
		return file->error;
	}
	file->records += records;
	file->error = write_end(file, events, len);
	if (file->error == 0) {
		file->size += len;
		return 0;
	}
	file->records -= records;
	file_drop(file, records);
	/* If this fails, half-written events remain after the tail. */
	if (ftruncate(file->fd, (off_t)(file->size + TAIL_SIZE)) < 0)
		file->is_recounted = true;
	file_settle(file);
	return file->error;
}

/* ---- tapes as text ---- */

static struct {
	pthread_t thread;
	_Atomic(uint64_t) dropped;

	/* Of the thread. */
	struct file file;
	char *begin; /* of the text */
	struct eddyi_text text;
	uint64_t records; /* in `text` */
	bool is_told;     /* the failure to write was reported */
} timeline = {
	.file = { .fd = -1 },
};

uint64_t eddyi_timeline_writer_dropped(void)
{
	return atomic_load(&timeline.dropped);
}

static void drop(uint64_t records)
{
	file_drop(&timeline.file, records);
	atomic_store(&timeline.dropped, timeline.file.dropped);
}

static size_t text_len(void)
{
	return (size_t)(timeline.text.at - timeline.begin);
}

static void write_text(void)
{
	int r;

	if (!text_len())
		return;
	r = file_append(&timeline.file, timeline.begin, text_len(), timeline.records);
	timeline.text.at = timeline.begin;
	timeline.records = 0;
	atomic_store(&timeline.dropped, timeline.file.dropped);
	if (r == 0 || timeline.is_told)
		return;
	timeline.is_told = true;
	eddy_warn(TARGET, "the timeline ends here, later events are dropped: %s", strerror(-r));
}

/* Whether another mark fits. Near the end of the file less is written at once, since a piece that
 * does not fit is lost completely. */
static bool has_room(void)
{
	return text_len() < TEXT_SIZE && text_len() < file_room(&timeline.file) / 2;
}

static void tell_dropped(struct eddyi_tape *tape)
{
	uint64_t dropped = __atomic_load_n(&tape->dropped, __ATOMIC_ACQUIRE);

	if (dropped == tape->dropped_told)
		return;
	eddyi_timeline_json_dropped(&timeline.text, tape, eddyi_clock_seen(),
				    dropped - tape->dropped_told);
	drop(dropped - tape->dropped_told);
	tape->dropped_told = dropped;
}

/* Write the tape's marks up to `head`. */
static void read_tape(struct eddyi_tape *tape, size_t head)
{
	size_t tail = atomic_load_explicit(&tape->tail, memory_order_relaxed);

	if (tail != head && !tape->is_named) {
		eddyi_timeline_json_group(&timeline.text, tape->group, tape->name);
		tape->is_named = true;
	}
	while (tail != head) {
		unsigned more = eddyi_tape_at(tape, tail)->more;
		char *begin = timeline.text.at;

		eddyi_timeline_json_mark(&timeline.text, tape, tail);
		if (timeline.text.full) {
			/* Incomplete. */
			timeline.text.at = begin;
			timeline.text.full = false;
			drop(1);
		} else {
			timeline.records++;
		}
		tail += 1 + more;
		if (!has_room() || tail == head) {
			atomic_store_explicit(&tape->tail, tail, memory_order_release);
			write_text();
		}
	}
	tell_dropped(tape);
	write_text();
}

/* ---- the thread ---- */

static _Thread_local bool is_writer;

bool eddyi_timeline_writer_is_self(void)
{
	return is_writer;
}

static void *writer_main(void *arg)
{
	bool is_last;

	(void)arg;
	is_writer = true;
	pthread_setname_np(pthread_self(), "eddy-timeline");
	do {
		eddyi_tapes_wait(PERIOD_NS);
		is_last = eddyi_tapes_is_stopping();
		eddyi_tapes_read(read_tape);
		eddyi_iowq_tell(&timeline.text, eddyi_tapes_group_of);
		write_text();
		file_settle(&timeline.file);
		eddyi_tapes_passed(is_last);
	} while (!is_last);
	return NULL;
}

static int open_file(const struct eddyi_timeline_settings *settings, uint64_t began_ns)
{
	char first[1024];
	char name[64];
	struct eddyi_text text = { .at = first, .end = first + sizeof(first) - 1 };

	snprintf(name, sizeof(name), "%.40s (%d)", program_invocation_short_name, (int)getpid());
	eddyi_timeline_json_group(&text, EDDYI_TIMELINE_PROCESS, name);
	*text.at = '\0';
	/* Without a comma: it is the first event. */
	return file_open(&timeline.file, settings->path, settings->file_max, settings->sample,
			 began_ns, first + strlen(",\n"));
}

static void deinit(void)
{
	char *text = timeline.begin;

	eddyi_tapes_end();
	/* In this order: a child forked meanwhile frees `timeline.begin` if set. */
	timeline.begin = NULL;
	free(text);
	file_close(&timeline.file);
}

/* Without the lock of tapes, which ending loops and panics take: the file system may be slow. */
static int init(const struct eddyi_timeline_settings *settings, unsigned generation)
{
	const struct eddyi_tapes_settings tapes = {
		.generation = generation,
		.sample = settings->sample,
		.buffer = settings->buffer,
		.began_ns = eddyi_clock_seen(),
	};
	size_t size = TEXT_SIZE + EDDYI_TIMELINE_EVENTS_MAX;
	int r;

	eddyi_timeline_json_begin(tapes.began_ns);
	timeline.records = 0;
	eddyi_iowq_reset();
	timeline.is_told = false;
	atomic_store(&timeline.dropped, 0);
	timeline.begin = malloc(size);
	if (!timeline.begin)
		return -ENOMEM;
	timeline.text = (struct eddyi_text){ .at = timeline.begin, .end = timeline.begin + size };
	r = open_file(settings, tapes.began_ns);
	return r < 0 ? r : eddyi_tapes_begin(&tapes);
}

static int start_thread(void)
{
	return eddyi_thread_start(&timeline.thread, writer_main, NULL);
}

int eddyi_timeline_writer_start(const struct eddyi_timeline_settings *settings, unsigned generation)
{
	int r = init(settings, generation);

	if (r == 0)
		r = eddyi_tapes_start(start_thread);
	if (r < 0)
		deinit();
	return r;
}

void eddyi_timeline_writer_stop(void)
{
	eddyi_tapes_stop();
	pthread_join(timeline.thread, NULL);
	deinit();
}

void eddyi_timeline_writer_in_child(void)
{
	eddyi_tapes_in_child();
	free(timeline.begin);
	timeline.begin = NULL;
	file_close(&timeline.file);
}
