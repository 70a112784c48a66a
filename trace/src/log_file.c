#include "log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_path(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);

	return fd < 0 ? -errno : fd;
}

int eddyi_log_file_open(struct eddyi_log_file *file, const char *path)
{
	*file = (struct eddyi_log_file){ .fd = STDERR_FILENO };
	if (!path)
		return 0;
	file->path = strdup(path);
	if (!file->path)
		return -ENOMEM;
	file->fd = open_path(path);
	return file->fd < 0 ? file->fd : 0;
}

void eddyi_log_file_close(struct eddyi_log_file *file)
{
	if (file->path && file->fd >= 0)
		close(file->fd);
	free(file->path);
}

void eddyi_log_file_reopen(struct eddyi_log_file *file)
{
	int fd = file->path ? open_path(file->path) : -EBADF;

	if (fd < 0)
		return;
	close(file->fd);
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

uint64_t eddyi_log_file_write(struct eddyi_log_file *file, const char *lines, size_t len)
{
	if (file->torn && write(file->fd, "\n", 1) == 1)
		file->torn = false;
	while (len) {
		ssize_t written = write(file->fd, lines, len);

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
