#include "pem.h"

#include <eddy/base.h>
#include <eddy/log.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1 << 20)

void eddyi_pem_deinit(struct eddyi_pem *pem)
{
	if (pem->bytes)
		explicit_bzero(pem->bytes, pem->len);
	free(pem->bytes);
}

/* Return: bytes; -EISDIR where it is no file, -EFBIG, -errno. */
static ssize_t read_file(int fd, unsigned char *buf)
{
	struct stat st;
	size_t len = 0;
	ssize_t r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EISDIR;
	do {
		r = read(fd, buf + len, FILE_MAX + 1 - len);
		if (r > 0)
			len += (size_t)r;
	} while (r > 0 || (r < 0 && errno == EINTR));
	if (r < 0)
		return -errno;
	return len > FILE_MAX ? -EFBIG : (ssize_t)len;
}

static const char *reason_of(int error)
{
	if (error == -EACCES)
		return "Permission denied; who runs the server must be able to read it";
	if (error == -EISDIR)
		return "it is not a file";
	if (error == -EFBIG)
		return "it has more than 1 MiB";
	return strerror(-error);
}

int eddyi_pem_init(struct eddyi_pem *pem, const char *path, const char *what)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t r = fd < 0 ? -errno : 0;

	*pem = (struct eddyi_pem){ .path = path };
	if (fd >= 0) {
		pem->bytes = malloc(FILE_MAX + 1);
		pem->len = FILE_MAX + 1;
		r = pem->bytes ? read_file(fd, pem->bytes) : -ENOMEM;
		close(fd);
	}
	if (r < 0) {
		eddy_error("eddy::tls", "can't read the %s \"%s\": %s", what, path,
			   reason_of((int)r));
		eddyi_pem_deinit(pem);
		pem->bytes = NULL;
		return -EINVAL;
	}
	pem->len = (size_t)r;
	return 0;
}

bool eddyi_pem_has(const struct eddyi_pem *pem, const char *text)
{
	return memmem(pem->bytes, pem->len, text, strlen(text)) != NULL;
}
