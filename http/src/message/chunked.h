/* chunked.h: the framing of a chunked body (RFC 9112 section 7.1), taken off as bytes arrive.
 *
 * llhttp could do this, but only for bytes that pass through it: told apart here, the data of a
 * chunk can go from the socket to a file without being looked at. Read strictly: no bare LF,
 * extensions and trailers by the grammar, and bounded: a line, a trailer, and all lines together by the
 * data that they frame. Blanks may surround the `;` and `=` of extensions (BWS) and stand nowhere else.
 */
#ifndef EDDYI_CHUNKED_H
#define EDDYI_CHUNKED_H

#include <eddy/str.h>

struct eddyi_chunked {
	uint64_t left;  /* data bytes of the current chunk that are still to come */
	uint8_t state;  /* all zero is the beginning */
	uint8_t digits; /* of the current chunk-size */
	uint32_t line;  /* bytes of the current chunk's line */
	uint32_t trailer;
	uint32_t excess; /* bytes of lines that no data accounts for */
};

/* Take framing off the front of `*rest` until data, the end, or more bytes are needed.
 * Return: 1 when `chunked->left` data bytes follow (they stay in `*rest`, the caller takes them off
 * and lowers `left` accordingly); 0 when `*rest` is used up; -ENODATA at the end of the body;
 * -EBADMSG when it is malformed. */
int eddyi_chunked_next(struct eddyi_chunked *chunked, struct eddy_str *rest);

/* Whether the next bytes are data: `left` of them. */
bool eddyi_chunked_has_data(const struct eddyi_chunked *chunked);

#endif
