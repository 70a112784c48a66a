#include <eddy/internal/outside.h>
#include <eddy/internal/proc.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

ssize_t eddyi_proc_read(char *text, size_t size, const char *format, ...)
{
	char path[96];
	va_list args;
	ssize_t len;
	int fd;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	text[0] = '\0';
	fd = eddyi_open_now(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	len = eddyi_read_now(fd, text, size - 1);
	if (len < 0)
		len = -errno;
	else
		text[len] = '\0';
	eddyi_close_now(fd);
	return len;
}
