#include <eddy/internal/log.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/panic.h>
#include <eddy/log_writer.h>
#include <eddy/loop.h>

#include "log_json.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_DEFAULT ((size_t)EDDY_MIB)
#define BUFFER_MIN ((size_t)(64 * EDDY_KIB))
#define END_NS EDDY_SECOND
#define LAST_NS (200 * EDDY_MS)
#define LAST_STEP_NS EDDY_MS
/* Busy writers write lines together at this interval: waking the thread for each costs most. A line
 * alone is written at once, and so are warnings and errors, before the program may end. */
#define TOGETHER_NS (5 * EDDY_MS)

struct file {
	char *path; /* NULL: stderr */
	int fd;
	bool torn; /* the last line is incomplete */
};

/* Invariants:
 * 1. `lock` guards all but `out` and `file`, which belong to the thread. It is held to copy a line,
 *    never to write.
 * 2. Lines are added to `in`; the thread swaps it with `out` and writes that. `in_end` and
 *    `out_end` count all bytes ever added and processed.
 * 3. The last user, the thread or its stopper, frees the writer: a thread that hangs in a write is
 *    left behind.
 */
struct writer {
	pthread_mutex_t lock;
	/* Wakes the thread: if `idle`, or to `hurry`. */
	pthread_cond_t filled;
	pthread_cond_t dealt; /* out_end has advanced, or the thread is done */
	pthread_t thread;
	char *in, *out;
	size_t size, in_len;
	uint64_t in_end, out_end;
	uint64_t lost;  /* records dropped and not yet reported */
	unsigned users; /* the thread and its stopper */
	bool idle;      /* the thread waits for a line */
	bool hurry;     /* write `in` now */
	bool stopping;
	bool done;
	bool reopen;
	struct file file;
	bool json, colour;
};

static struct writer *current;
static bool is_mute; /* subscribed without a writer (EDDY_LOG_FORMAT_NONE) */
static pthread_mutex_t current_lock = PTHREAD_MUTEX_INITIALIZER;
/* The process aborts, and `current_lock` stays locked: a handler of the program must not wait for it. */
static atomic_bool is_failing;
static atomic_uint_least64_t dropped;

/* ---- the file ---- */

static int open_path(const char *path)
{
	int fd = eddyi_open_now(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);

	return fd < 0 ? -errno : fd;
}

/* Open a file for appending, creating it if missing; NULL: stderr. Close it also on failure.
 * Return: 0; -ENOMEM, those of open(2). */
static int file_open(struct file *file, const char *path)
{
	*file = (struct file){ .fd = STDERR_FILENO };
	if (!path)
		return 0;
	file->path = strdup(path);
	if (!file->path)
		return -ENOMEM;
	file->fd = open_path(path);
	return file->fd < 0 ? file->fd : 0;
}

static void file_close(struct file *file)
{
	if (file->path && file->fd >= 0)
		eddyi_close_now(file->fd);
	free(file->path);
}

/* Reopen the path; on failure the old file stays in use. */
static void file_reopen(struct file *file)
{
	int fd = file->path ? open_path(file->path) : -EBADF;

	if (fd < 0)
		return;
	eddyi_close_now(file->fd);
	file->fd = fd;
	file->torn = false;
}

static uint64_t count_lines(const char *lines, size_t len)
{
	const char *end = lines + len;
	uint64_t count = 0;

	while ((lines = memchr(lines, '\n', (size_t)(end - lines)))) {
		count++;
		lines++;
	}
	return count;
}

/* Write whole lines. Blocks as long as the file does. Return: the number of lines lost. */
static uint64_t file_write(struct file *file, const char *lines, size_t len)
{
	if (file->torn && eddyi_write_now(file->fd, "\n", 1) == 1)
		file->torn = false;
	while (len) {
		ssize_t written = eddyi_write_now(file->fd, lines, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return count_lines(lines, len);
		lines += written;
		len -= (size_t)written;
		file->torn = lines[-1] != '\n';
	}
	return 0;
}

/* ---- adding lines ---- */

static size_t format(const struct writer *writer, const struct eddy_record *record, char *line)
{
	return writer->json ? eddyi_log_format_json(record, line) :
			      eddy_log_format_text(record, writer->colour, line);
}

/* With the lock. */
static void hurry(struct writer *writer)
{
	if (!writer->hurry)
		pthread_cond_signal(&writer->filled);
	writer->hurry = true;
}

/* A line was added. With the lock. */
static void wake(struct writer *writer, enum eddy_log_level level)
{
	if (level <= EDDY_LOG_WARN || writer->in_len > writer->size / 4)
		hurry(writer);
	else if (writer->idle)
		pthread_cond_signal(&writer->filled);
	writer->idle = false;
}

static void take(const struct eddy_record *record, void *arg)
{
	struct writer *writer = arg;
	char line[EDDY_LOG_LINE_MAX];
	size_t len = format(writer, record, line);

	pthread_mutex_lock(&writer->lock);
	if (len > writer->size - writer->in_len) {
		writer->lost++;
		atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
	} else {
		memcpy(writer->in + writer->in_len, line, len);
		writer->in_len += len;
		writer->in_end += len;
		wake(writer, record->level);
	}
	pthread_mutex_unlock(&writer->lock);
}

static void take_nothing(const struct eddy_record *record, void *arg)
{
	(void)record;
	(void)arg;
}

/* ---- writing lines ---- */

static void put_out(struct writer *writer, const char *lines, size_t len)
{
	atomic_fetch_add_explicit(&dropped, file_write(&writer->file, lines, len),
				  memory_order_relaxed);
}

static void tell_lost(struct writer *writer, uint64_t lost)
{
	char message[80], line[EDDY_LOG_LINE_MAX];
	struct eddy_record record = {
		.level = EDDY_LOG_WARN,
		.target = "eddy::log",
		.message = eddy_str(
			message,
			(size_t)snprintf(
				message, sizeof(message),
				"%llu records were dropped: they were emitted faster than they "
				"could be written",
				(unsigned long long)lost)),
	};

	record.time_ns = eddyi_clock(CLOCK_REALTIME);
	put_out(writer, line, format(writer, &record, line));
}

static void writer_free(struct writer *writer)
{
	file_close(&writer->file);
	pthread_mutex_destroy(&writer->lock);
	pthread_cond_destroy(&writer->filled);
	pthread_cond_destroy(&writer->dealt);
	free(writer->in);
	free(writer->out);
	free(writer);
}

/* With the lock, which it releases. */
static void leave(struct writer *writer)
{
	bool last = --writer->users == 0;

	pthread_mutex_unlock(&writer->lock);
	if (last)
		writer_free(writer);
}

/* Write all lines. With the lock, released meanwhile. */
static void deal(struct writer *writer)
{
	uint64_t end = writer->in_end, lost = writer->lost;
	bool wants_new_file = writer->reopen;
	size_t len = writer->in_len;
	char *swap = writer->in;

	writer->in = writer->out;
	writer->out = swap;
	writer->in_len = 0;
	writer->lost = 0;
	writer->hurry = false;
	writer->reopen = false;
	pthread_mutex_unlock(&writer->lock);
	if (wants_new_file)
		file_reopen(&writer->file);
	put_out(writer, writer->out, len);
	if (lost)
		tell_lost(writer, lost);
	pthread_mutex_lock(&writer->lock);
	writer->out_end = end;
	pthread_cond_broadcast(&writer->dealt);
}

static struct timespec in(uint64_t timeout_ns)
{
	struct eddyi_track *track = eddyi_track;
	uint64_t at;

	if (timeout_ns > 365 * 86400 * EDDY_SECOND)
		timeout_ns = 365 * 86400 * EDDY_SECOND;
	/* A replay waits in real time. */
	eddyi_track = NULL;
	at = eddy_now() + timeout_ns;
	eddyi_track = track;
	return (struct timespec){ (time_t)(at / EDDY_SECOND), (long)(at % EDDY_SECOND) };
}

/* Wait for more lines to write together. With the lock, released meanwhile. */
static void gather(struct writer *writer)
{
	struct timespec until = in(TOGETHER_NS);

	while (!writer->hurry && !writer->stopping &&
	       pthread_cond_timedwait(&writer->filled, &writer->lock, &until) == 0)
		;
}

static void *run(void *arg)
{
	struct writer *writer = arg;

	pthread_mutex_lock(&writer->lock);
	for (;;) {
		while (!writer->in_len && !writer->stopping) {
			writer->idle = true;
			pthread_cond_wait(&writer->filled, &writer->lock);
		}
		writer->idle = false;
		if (!writer->in_len)
			break;
		deal(writer);
		gather(writer);
	}
	writer->done = true;
	pthread_cond_broadcast(&writer->dealt);
	leave(writer);
	return NULL;
}

/* ---- the end of a process that fails ---- */

static bool try_lock(pthread_mutex_t *lock, uint64_t until_ns)
{
	while (pthread_mutex_trylock(lock)) {
		if (eddy_now() > until_ns)
			return false;
		eddyi_nanosleep_now(&(struct timespec){ .tv_nsec = (long)LAST_STEP_NS }, NULL);
	}
	return true;
}

/* Let the thread write all lines before the process aborts. May run in a signal handler, with locks of
 * its own thread held: waits for no lock, and for no slow disk. */
static void write_last(bool in_handler)
{
	uint64_t until = eddy_now() + LAST_NS, end = 0;
	struct writer *writer;
	bool written = false;

	(void)in_handler;
	is_failing = true;
	/* Never unlocked, so that the writer is not freed. */
	if (!try_lock(&current_lock, until))
		return;
	writer = current;
	if (!writer || pthread_equal(writer->thread, pthread_self()))
		return;
	while (!written && try_lock(&writer->lock, until)) {
		if (!end)
			end = writer->in_end;
		written = writer->out_end >= end || writer->done;
		if (!written)
			hurry(writer);
		pthread_mutex_unlock(&writer->lock);
		if (!written)
			eddyi_nanosleep_now(&(struct timespec){ .tv_nsec = (long)LAST_STEP_NS },
					    NULL);
		if (eddy_now() > until)
			return;
	}
}

/* ---- start and end ---- */

static bool wants_json(enum eddy_log_format format)
{
	const char *env = eddyi_getenv_now("EDDY_LOG_FORMAT");

	if (format == EDDY_LOG_FORMAT_ENV)
		return env && strcmp(env, "json") == 0;
	return format == EDDY_LOG_FORMAT_JSON;
}

static int writer_init(struct writer *writer, const struct eddy_log_writer_options *options)
{
	int r = file_open(&writer->file, options->path);

	if (r < 0)
		return r;
	writer->size = options->buffer ? options->buffer : BUFFER_DEFAULT;
	if (writer->size < BUFFER_MIN)
		writer->size = BUFFER_MIN;
	writer->in = malloc(writer->size);
	writer->out = malloc(writer->size);
	writer->users = 2;
	writer->json = wants_json(options->format);
	writer->colour = eddyi_log_wants_colour(writer->file.fd);
	return writer->in && writer->out ? 0 : -ENOMEM;
}

static int start(struct writer *writer)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&writer->thread, NULL, run, writer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return -r;
	pthread_setname_np(writer->thread, "eddy-log");
	pthread_detach(writer->thread);
	return 0;
}

static void init_locks(struct writer *writer)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&writer->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->filled, &monotonic);
	pthread_cond_init(&writer->dealt, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* With current_lock. */
static int subscribe(const struct eddy_log_writer_options *options)
{
	static bool ends_with_program;
	struct writer *writer = calloc(1, sizeof(*writer));
	int r;

	if (!writer)
		return -ENOMEM;
	init_locks(writer);
	r = writer_init(writer, options);
	if (r == 0)
		r = eddy_log_subscribe(take, writer);
	if (r == 0) {
		r = start(writer);
		if (r < 0)
			eddy_log_unsubscribe();
	}
	if (r < 0) {
		writer_free(writer);
		return r;
	}
	current = writer;
	eddyi_at_panic(write_last);
	if (!ends_with_program)
		ends_with_program = atexit(eddy_log_writer_unsubscribe) == 0;
	return 0;
}

/* Subscribe with a filter that disables all records: none is formatted. With current_lock. */
static int subscribe_mute(void)
{
	int r = eddy_log_subscribe(take_nothing, NULL);

	if (r == 0)
		eddy_log_set_filter("off");
	is_mute = r == 0;
	return r;
}

int eddy_log_writer_subscribe(const struct eddy_log_writer_options *options)
{
	static const struct eddy_log_writer_options defaults;
	int r;

	if (!options)
		options = &defaults;
	pthread_mutex_lock(&current_lock);
	if (current || is_mute)
		r = -EBUSY;
	else if (options->format == EDDY_LOG_FORMAT_NONE)
		r = subscribe_mute();
	else
		r = subscribe(options);
	pthread_mutex_unlock(&current_lock);
	return r;
}

/* Wait until `end` bytes have been processed. With the lock. */
static int await(struct writer *writer, uint64_t end, uint64_t timeout_ns)
{
	struct timespec until = in(timeout_ns);
	int r = 0;

	while (writer->out_end < end && !writer->done && !r)
		r = pthread_cond_timedwait(&writer->dealt, &writer->lock, &until);
	return -r;
}

void eddy_log_writer_unsubscribe(void)
{
	struct writer *writer;

	if (is_failing)
		return;
	pthread_mutex_lock(&current_lock);
	writer = current;
	if (writer || is_mute)
		eddy_log_unsubscribe();
	current = NULL;
	is_mute = false;
	pthread_mutex_unlock(&current_lock);
	if (!writer)
		return;
	pthread_mutex_lock(&writer->lock);
	writer->stopping = true;
	pthread_cond_signal(&writer->filled);
	await(writer, UINT64_MAX, END_NS);
	leave(writer);
}

int eddy_log_writer_flush(uint64_t timeout_ns)
{
	struct writer *writer;
	int r = 0;

	if (is_failing)
		return -ETIMEDOUT;
	pthread_mutex_lock(&current_lock);
	writer = current;
	if (writer) {
		pthread_mutex_lock(&writer->lock);
		if (writer->in_len)
			hurry(writer);
		r = await(writer, writer->in_end, timeout_ns);
		pthread_mutex_unlock(&writer->lock);
	}
	pthread_mutex_unlock(&current_lock);
	return r;
}

void eddy_log_writer_reopen(void)
{
	if (is_failing)
		return;
	pthread_mutex_lock(&current_lock);
	if (current) {
		pthread_mutex_lock(&current->lock);
		current->reopen = true;
		pthread_mutex_unlock(&current->lock);
	}
	pthread_mutex_unlock(&current_lock);
}

uint64_t eddy_log_writer_dropped(void)
{
	return atomic_load_explicit(&dropped, memory_order_relaxed);
}
