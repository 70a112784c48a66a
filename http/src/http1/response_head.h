/* response_head.h: parses the head of a response for the client (RFC 9112 section 4).
 *
 * A complete head is parsed by llhttp in strict mode. Like request_head.h, this rejects ambiguous input
 * that llhttp accepts, in particular framing in which two readers could find different ends. Unlike
 * there, a folded line is read as a blank, and tabs may surround values (RFC 9112 sections 5 and
 * 5.2). */
#ifndef EDDYI_RESPONSE_HEAD_H
#define EDDYI_RESPONSE_HEAD_H

#include "framed.h"
#include "message/head.h"

struct eddyi_response_head {
	struct eddyi_arena *arena;
	size_t block_max;
	unsigned header_count_max;

	char *bytes; /* all bytes of the head so far */
	size_t len;
	size_t capacity;
	size_t looked; /* searched so far for the end of the head */

	/* Of a complete head: */
	int status;
	unsigned minor; /* HTTP/1.minor, 0 or 1 */
	struct eddyi_header *headers;
	unsigned header_count;
	enum eddyi_framing framing;
	uint64_t length; /* of the body, for EDDYI_BODY_LENGTH */
	bool keep_alive;

	const char *problem; /* why the head is rejected; static text */
};

/* Begin to read a head. `arena` must outlive it. Limits: bytes of the head, and fields. */
void eddyi_response_head_init(struct eddyi_response_head *head, struct eddyi_arena *arena,
			      size_t block_max, unsigned header_count_max);

/* Take in up to `len` bytes; `*ret_used` is how many belong to the head. `no_body`: of a HEAD.
 * Return: 0 if more bytes are needed; 1 if the head is complete; -EBADMSG, -EMSGSIZE, and `problem`
 * says why; -ENOMEM. */
int eddyi_response_head_feed(struct eddyi_response_head *head, const char *bytes, size_t len,
			     bool no_body, size_t *ret_used);

#endif
