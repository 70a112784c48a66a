/* chunked.h: the framing of a chunked body (RFC 9112 section 7.1), decoded as bytes arrive.
 *
 * llhttp does this only for bytes that pass through it; here the data of a chunk can go from the
 * socket to a file unread. Parsing is strict: no bare LF; extensions and trailers follow the
 * grammar, with blanks (BWS) only around the `;` and `=` of extensions. The size of a line, of the
 * trailers, and of all lines together in proportion to their data is limited. */
#ifndef EDDYI_CHUNKED_H
#define EDDYI_CHUNKED_H

#include <eddy/internal/text.h>

struct eddyi_chunked {
	uint64_t left;  /* data bytes of the current chunk not yet received */
	uint8_t state;  /* zero: the beginning */
	uint8_t digits; /* of the current chunk-size */
	uint32_t line;  /* bytes of the current chunk's line */
	uint32_t trailer;
	uint32_t excess; /* bytes of lines in excess of what their data allows */
};

/* Remove framing from the front of `*rest` until data, the end, or `*rest` is used up.
 * Return: 1 if `chunked->left` data bytes follow, which the caller removes from `*rest` and
 * subtracts from `left`; 0 if more bytes are needed; -ENODATA at the end; -EBADMSG if malformed. */
int eddyi_chunked_next(struct eddyi_chunked *chunked, struct eddy_str *rest);

/* Whether the next `left` bytes are data. */
bool eddyi_chunked_has_data(const struct eddyi_chunked *chunked);

/* Format the line that precedes a chunk of `len` bytes, without a NUL. Return: its length. */
#define EDDYI_CHUNK_LINE_SIZE (EDDYI_HEX_SIZE + 1)
size_t eddyi_chunked_line(uint64_t len, char text[EDDYI_CHUNK_LINE_SIZE]);

#endif
