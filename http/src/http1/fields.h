/* fields.h: what the fields of a head mean: the framing of the body, the host, and whether the
 * connection is kept (RFC 9110 section 7, RFC 9112 sections 6 and 9).
 *
 * Ambiguous messages, in which two readers could find different ends, are rejected:
 *
 *   - Transfer-Encoding is "chunked", once and alone, and not in HTTP/1.0.
 *   - Content-Length occurs at most once, without leading zeros, with at most one space before it
 *     and no blank after it, as clients write it.
 *   - Host occurs at most once, and exactly once in HTTP/1.1; Content-Type at most once.
 *   - The only expectation is 100-continue; WebSocket (RFC 6455 section 4.2.1) has version 13. */
#ifndef EDDYI_FIELDS_H
#define EDDYI_FIELDS_H

#include "message/head.h"

enum eddyi_framing {
	EDDYI_BODY_NONE,
	EDDYI_BODY_LENGTH,
	EDDYI_BODY_CHUNKED,
	EDDYI_BODY_CLOSE, /* of a response: until the connection ends */
};

/* A parsed head's method and fields. */
struct eddyi_fields {
	const struct eddyi_header *headers;
	unsigned count;
	unsigned minor; /* HTTP/1.minor, 0 or 1 */
	enum eddyi_method method;
	uint64_t content_length; /* value of the field */
};

struct eddyi_framed {
	struct eddy_str host; /* the Host field; may be empty in 1.0 */
	enum eddyi_framing framing;
	uint64_t length; /* of the body, for EDDYI_BODY_LENGTH */
	bool keep_alive;
	bool expect_continue;
	const char *problem; /* why it is rejected; static text */
};

/* Check the fields of a head. Return: 200; the status that rejects it, and `problem` says why. */
int eddyi_fields_judge(const struct eddyi_fields *fields, struct eddyi_framed *ret_framed);

#endif
