/* eddy/lines.h: read a stream line by line, through a buffer of the caller.
 *
 *     char buf[4096];
 *     struct eddy_lines lines;
 *     struct eddy_str line;
 *
 *     eddy_lines_init(&lines, fd, buf, sizeof(buf));
 *     while ((r = eddy_lines_next(&lines, &line)) > 0)
 *             printf("%.*s\n", EDDY_FMT(line));
 *
 * For sockets, pipes and everything else that eddy_read() reads. Bytes after a line stay in the
 * buffer: read the rest of such a stream with eddy_lines_read().
 */
#ifndef EDDY_LINES_H
#define EDDY_LINES_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* Private. */
struct eddy_lines {
	int fd;
	char *buf;
	size_t size;
	size_t begin, end; /* bytes read and not returned yet */
	size_t searched;   /* bytes from `begin` on known to have no newline */
	int ended;         /* 1 at the end of the stream, -errno after a permanent error */
};

/* Start reading lines from `fd`. `fd` and `buf` are borrowed while `lines` is used. A line may have
 * `size` bytes, its newline included. */
EDDY_API void eddy_lines_init(struct eddy_lines *lines, int fd, void *buf, size_t size);

/* Read the next line, without its "\n" or "\r\n". Suspends unless it is in the buffer. The
 * line points into the buffer and is valid until the next call. The last line of a stream
 * needs no newline.
 * Return: 1; 0 at the end of the stream; -EMSGSIZE, now and in all later calls, if a line is longer
 * than the buffer; -ECANCELED, and no bytes are lost; the errors of eddy_read(). */
EDDY_API int eddy_lines_next(struct eddy_lines *lines, struct eddy_str *ret_line);

/* Read up to `len` bytes as they are, such as a body that a line has announced. Suspends unless
 * some are in the buffer. Return: bytes; 0 at the end of the stream; -errno. */
EDDY_API ssize_t eddy_lines_read(struct eddy_lines *lines, void *buf, size_t len);

EDDY_END_DECLS

#endif
