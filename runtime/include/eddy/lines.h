/* eddy/lines.h: a stream read line by line, through a buffer of the caller's.
 *
 *     char buf[4096];
 *     struct eddy_lines lines;
 *     struct eddy_str line;
 *
 *     eddy_lines_init(&lines, fd, buf, sizeof(buf));
 *     while ((r = eddy_lines_next(&lines, &line)) > 0)
 *             printf("%.*s\n", EDDY_FMT(line));
 *
 * For sockets, pipes and whatever else eddy_read() reads. Bytes that came behind a line stay in the
 * buffer: read the rest of such a stream by eddy_lines_read(), too.
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
	size_t begin, end; /* of what was read and not handed out */
	size_t searched;   /* bytes from `begin` on that have no newline */
	int ended;         /* 1 at the end of the stream, -errno after an error that lasts */
};

/* Begin to read `fd`. The buffer is borrowed for as long; a line of up to `size` bytes fits, its
 * newline included. */
EDDY_API void eddy_lines_init(struct eddy_lines *lines, int fd, void *buf, size_t size);

/* Read the next line. Its "\n" or "\r\n" is taken off; the last one of a stream need not have any. The
 * line lies in the buffer and lives until the next call. Suspends unless it is there already.
 * Return: 1; 0 at the end of the stream; -EMSGSIZE, now and ever after, when a line is longer than the
 * buffer; -ECANCELED, and nothing is lost; the errors of eddy_read(). */
EDDY_API int eddy_lines_next(struct eddy_lines *lines, struct eddy_str *ret_line);

/* Read up to `len` bytes as they are: a body that a line has announced. Suspends unless some are there
 * already. Return: bytes, 0 at the end of the stream, -errno. */
EDDY_API ssize_t eddy_lines_read(struct eddy_lines *lines, void *buf, size_t len);

EDDY_END_DECLS

#endif
