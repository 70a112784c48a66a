/* fields.h: what the fields of a head say about its message: how the body is framed, who is asked,
 * and whether the connection stays (RFC 9110 section 7, RFC 9112 sections 6 and 9).
 *
 * Read as narrowly as clients write: where two readers of one message could come to different ends of
 * it, it is refused.
 *
 *   - Transfer-Encoding is "chunked", once, and alone; HTTP/1.0 has none.
 *   - Content-Length comes once, in the one spelling that clients use: no zeros in front, at most one
 *     space before and no blank behind it.
 *   - Host comes once, and in HTTP/1.1 at least that; Content-Type at most once.
 *   - The only expectation is 100-continue; a WebSocket handshake (RFC 6455 section 4.2.1) is of
 *     version 13 or no handshake.
 */
#ifndef EDDYI_FIELDS_H
#define EDDYI_FIELDS_H

#include "method.h"

#include <eddy/str.h>

struct eddyi_header {
	struct eddy_str name;
	struct eddy_str value; /* blanks trimmed */
};

enum eddyi_framing {
	EDDYI_BODY_NONE,
	EDDYI_BODY_LENGTH,
	EDDYI_BODY_CHUNKED,
	EDDYI_BODY_CLOSE, /* of a response: as long as the connection lasts */
};

/* A head whose method and fields have been read. */
struct eddyi_fields {
	const struct eddyi_header *headers;
	unsigned count;
	unsigned minor; /* HTTP/1.minor, 0 or 1 */
	enum eddyi_method method;
	uint64_t content_length; /* as its one field has it */
};

/* What follows from them. */
struct eddyi_framed {
	struct eddy_str host; /* of the Host field; may be empty in 1.0 */
	enum eddyi_framing framing;
	uint64_t length; /* of the body, for EDDYI_BODY_LENGTH */
	bool keep_alive;
	bool expect_continue;
	const char *problem; /* what is wrong; static text */
};

/* Judge the fields of a head. Return: 200, or the status that it is to be refused with, `problem` saying why. */
int eddyi_fields_judge(const struct eddyi_fields *fields, struct eddyi_framed *ret_framed);

#endif
