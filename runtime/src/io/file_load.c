/* Reads a whole file into memory, by blocking calls. */
#include <eddy/internal/outside.h>
#include <eddy/file.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Return: the length, more than `max` if the file is longer; -errno. */
static ssize_t read_all(int fd, size_t max, char *bytes)
{
	size_t len = 0;
	ssize_t r;

	do {
		r = eddyi_read_now(fd, bytes + len, max + 1 - len);
		if (r > 0)
			len += (size_t)r;
	} while ((r > 0 && len <= max) || (r < 0 && errno == EINTR));
	return r < 0 ? -errno : (ssize_t)len;
}

static ssize_t load(int fd, size_t max, char **ret_bytes)
{
	struct stat st;
	char *bytes;
	ssize_t r;

	if (eddyi_fstat_now(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EISDIR;
	bytes = malloc(max + 1);
	if (!bytes)
		return -ENOMEM;
	r = read_all(fd, max, bytes);
	if (r >= 0 && (size_t)r <= max) {
		bytes[r] = 0;
		*ret_bytes = bytes;
		return r;
	}
	/* It may contain a secret. */
	explicit_bzero(bytes, max + 1);
	free(bytes);
	return r < 0 ? r : -EFBIG;
}

ssize_t eddy_file_load(const char *path, size_t max, char **ret_bytes)
{
	/* Don't wait for a FIFO's writer, nor make a terminal the controlling one. */
	int fd = eddyi_open_now(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	ssize_t r;

	if (fd < 0)
		return -errno;
	r = load(fd, max, ret_bytes);
	eddyi_close_now(fd);
	return r;
}
