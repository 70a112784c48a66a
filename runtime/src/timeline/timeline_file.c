/* Invariants:
 * 1. The file has complete events up to `size`, followed by the tail, which ends the JSON.
 *    Appending overwrites the tail and writes a new one.
 * 2. If appending fails midway, there is still room for the tail at its old place: it is written
 *    there again, and the file is truncated after it.
 */
#include "timeline_file.h"

#include <eddy/internal/json.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
#define PATH_SIZE 4096

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

static void make_tail(const struct eddyi_timeline_file *file, char tail[EDDYI_TIMELINE_TAIL + 1])
{
	static const char end[] = "}}\n";
	struct eddyi_text json = { .at = tail, .end = tail + EDDYI_TIMELINE_TAIL };

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
static int write_end(struct eddyi_timeline_file *file, const char *events, size_t len)
{
	char tail[EDDYI_TIMELINE_TAIL + 1];
	struct iovec parts[2] = { { (void *)(uintptr_t)events, len },
				  { tail, EDDYI_TIMELINE_TAIL } };

	make_tail(file, tail);
	file->is_recounted = false;
	return write_at(file->fd, parts, file->size);
}

static int open_file(const char *path)
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

int eddyi_timeline_file_open(struct eddyi_timeline_file *file, const char *path, uint64_t max,
			     unsigned sample, uint64_t began_ns, const char *first)
{
	const struct iovec head[2] = { { (void *)(uintptr_t)HEAD, strlen(HEAD) } };
	int r;

	*file = (struct eddyi_timeline_file){
		.fd = open_file(path),
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
		eddyi_timeline_file_close(file);
	return r;
}

void eddyi_timeline_file_close(struct eddyi_timeline_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

uint64_t eddyi_timeline_file_room(const struct eddyi_timeline_file *file)
{
	uint64_t used = file->size + EDDYI_TIMELINE_TAIL;

	return used < file->max ? file->max - used : 0;
}

int eddyi_timeline_file_append(struct eddyi_timeline_file *file, const char *events, size_t len,
			       uint64_t records)
{
	if (!file->error && len > eddyi_timeline_file_room(file))
		file->error = -EFBIG;
	if (file->error) {
		eddyi_timeline_file_drop(file, records);
		return file->error;
	}
	file->records += records;
	file->error = write_end(file, events, len);
	if (file->error == 0) {
		file->size += len;
		return 0;
	}
	file->records -= records;
	eddyi_timeline_file_drop(file, records);
	/* If this fails, half-written events remain after the tail. */
	if (ftruncate(file->fd, (off_t)(file->size + EDDYI_TIMELINE_TAIL)) < 0)
		file->is_recounted = true;
	eddyi_timeline_file_settle(file);
	return file->error;
}

void eddyi_timeline_file_drop(struct eddyi_timeline_file *file, uint64_t records)
{
	file->dropped += records;
	file->is_recounted |= records > 0;
}

void eddyi_timeline_file_settle(struct eddyi_timeline_file *file)
{
	if (file->is_recounted)
		write_end(file, NULL, 0);
}
