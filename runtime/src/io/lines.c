#include <eddy/lines.h>

#include "base/panic.h"

#include <eddy/io.h>
#include <errno.h>

void eddy_lines_init(struct eddy_lines *lines, int fd, void *buf, size_t size)
{
	eddyi_assert(size > 1,
		     "the buffer of eddy_lines_init() is too small: at least 2 bytes are needed");
	*lines = (struct eddy_lines){ .fd = fd, .buf = buf, .size = size };
}

/* Return a line of `len` bytes, including `newline` bytes at the end that do not belong to it. */
static int hand_out(struct eddy_lines *lines, size_t len, size_t newline, struct eddy_str *ret_line)
{
	struct eddy_str line = eddy_str(lines->buf + lines->begin, len - newline);

	lines->begin += len;
	lines->searched = 0;
	if (newline && line.len && line.ptr[line.len - 1] == '\r')
		line.len--;
	*ret_line = line;
	return 1;
}

/* Read into the free end of the buffer. Return: 0, also at the end of the stream; -errno. */
static int read_more(struct eddy_lines *lines)
{
	size_t len = lines->end - lines->begin;
	ssize_t r;

	if (lines->begin) {
		memmove(lines->buf, lines->buf + lines->begin, len);
		lines->begin = 0;
		lines->end = len;
	}
	if (len == lines->size) {
		lines->ended = -EMSGSIZE;
		return -EMSGSIZE;
	}
	r = eddy_read(lines->fd, lines->buf + len, lines->size - len, EDDY_OFFSET_NONE);
	if (r < 0)
		return (int)r;
	lines->end += (size_t)r;
	lines->ended = r == 0;
	return 0;
}

int eddy_lines_next(struct eddy_lines *lines, struct eddy_str *ret_line)
{
	int r = 0;

	while (r == 0) {
		const char *from = lines->buf + lines->begin;
		size_t len = lines->end - lines->begin;
		const char *newline = len > lines->searched ? memchr(from + lines->searched, '\n',
								     len - lines->searched) :
							      NULL;

		if (newline)
			return hand_out(lines, (size_t)(newline - from) + 1, 1, ret_line);
		lines->searched = len;
		if (lines->ended < 0)
			return lines->ended;
		if (lines->ended)
			return len ? hand_out(lines, len, 0, ret_line) : 0;
		r = read_more(lines);
	}
	return r;
}

ssize_t eddy_lines_read(struct eddy_lines *lines, void *buf, size_t len)
{
	size_t here = lines->end - lines->begin;

	if (!here)
		return lines->ended > 0 ? 0 : eddy_read(lines->fd, buf, len, EDDY_OFFSET_NONE);
	if (len > here)
		len = here;
	memcpy(buf, lines->buf + lines->begin, len);
	lines->begin += len;
	lines->searched = 0;
	return (ssize_t)len;
}
