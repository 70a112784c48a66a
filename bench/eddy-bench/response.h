/* response.h: what a server sends, taken apart without copying: heads (RFC 9112 sections 4 to 6), and the framing
 * of chunked bodies (section 7.1). It is for the eyes of a benchmark: only what says how long a response is, and
 * whether the connection stays, is looked at. Lines may end by LF alone.
 */
#ifndef EDDY_BENCH_RESPONSE_H
#define EDDY_BENCH_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RESPONSE_LENGTH_NONE UINT64_MAX

struct response {
	int status;
	bool keeps;   /* the connection stays open */
	bool chunked; /* else the body has `length` bytes, */
	uint64_t length; /* and where that is RESPONSE_LENGTH_NONE it lasts until the end of the stream */
};

/* Parse the head at the front of `bytes`.
 * Return: its bytes; 0 where it is not whole; -EBADMSG, and what is wrong in `ret_wrong`. */
ssize_t response_parse(const char *bytes, size_t len, struct response *ret_response,
		       const char **ret_wrong);

/* Where in a chunked body we are; all zero is its beginning. */
struct chunked {
	uint64_t left; /* bytes of data that come next */
	uint64_t size; /* as far as its line has been read */
	unsigned state;
	unsigned extra; /* bytes of framing since the last data */
	bool has_digit;
	bool ended; /* the body, and all that belongs to it */
};

/* Pass over framing, up to the next data or the end. While `left` is not 0 the caller takes data, and counts it
 * down. Return: bytes that were framing; -EBADMSG. */
ssize_t chunked_take(struct chunked *chunked, const char *bytes, size_t len);

#endif
