/* response_head.h: the head of a response, as a client reads it (RFC 9112 section 4).
 *
 * A head is gathered until it is whole, and then read at once by llhttp, in strict mode; what that lets
 * through that a careful client must not is refused here, as head.h does for requests. Unlike there a folded
 * line is read, as a blank, and tabs may surround any value (RFC 9112 sections 5 and 5.2). How the body is framed
 * is judged narrowly: where two readers of one response could come to different ends of it, it is malformed.
 */
#ifndef EDDYI_RESPONSE_HEAD_H
#define EDDYI_RESPONSE_HEAD_H

#include "head.h"

struct eddyi_response_head {
	struct eddyi_arena *arena;
	size_t block_max;
	unsigned header_count_max;

	char *bytes; /* all that has been taken in */
	size_t len;
	size_t capacity;
	size_t looked; /* so far there is no end of the head */

	/* Of a head that is complete: */
	int status;
	unsigned minor; /* HTTP/1.minor, 0 or 1 */
	struct eddyi_header *headers;
	unsigned header_count;
	enum eddyi_framing framing;
	uint64_t length; /* of the body, for EDDYI_BODY_LENGTH */
	bool keep_alive;

	const char *problem; /* what is wrong with one that was refused; static text */
};

/* Begin to read a head; `arena` outlives it. The limits are in bytes of the whole, and in fields. */
void eddyi_response_head_init(struct eddyi_response_head *head, struct eddyi_arena *arena,
			      size_t block_max, unsigned header_count_max);

/* Take in up to `len` more bytes; `*ret_used` says how many belong to the head. `no_body` says that the
 * request was HEAD.
 * Return: 0 when more bytes are needed; 1 when it is complete; -EBADMSG, -EMSGSIZE, `problem` saying why;
 * -ENOMEM. */
int eddyi_response_head_feed(struct eddyi_response_head *head, const char *bytes, size_t len,
			     bool no_body, size_t *ret_used);

#endif
