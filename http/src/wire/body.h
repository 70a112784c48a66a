/* body.h: the body of a request, or of a response that a client reads, pulled from its connection. */
#ifndef EDDYI_BODY_H
#define EDDYI_BODY_H

#include "message/chunked.h"
#include "message/head.h"

struct eddyi_wire;

struct eddyi_body {
	enum eddyi_framing framing;
	uint64_t left; /* LENGTH: bytes still to come */
	uint64_t max;  /* bytes that may come in all; past it -EFBIG */
	uint64_t took; /* bytes that came */
	uint64_t trimmings; /* of these, bytes that are no content: heads of parts, and what stands between them */
	struct eddyi_chunked chunked;
	bool expects; /* the client waits for a 100 */
	bool ended;
	int error; /* once it has failed it stays failed */
};

/* A body of this framing comes next; `length` is that of EDDYI_BODY_LENGTH. */
void eddyi_body_begin(struct eddyi_body *body, enum eddyi_framing framing, uint64_t length);

/* The same, as a request's head has it. */
void eddyi_body_init(struct eddyi_body *body, const struct eddyi_head *head);

/* Read some of the body. Suspends. Return: bytes, 0 at its end, -errno as eddy_req_read(). */
ssize_t eddyi_body_read(struct eddyi_body *body, struct eddyi_wire *wire, void *buf, size_t len);

/* Let body bytes come, `*ret_bytes` those that are here already (0 or more), `*ret_left` how many follow
 * them on the socket without any framing between. The caller consumes what it takes by
 * eddyi_body_took(). Suspends.
 * Return: 1 when there are any, 0 at the end, -errno. */
int eddyi_body_next(struct eddyi_body *body, struct eddyi_wire *wire, struct eddy_str *ret_bytes,
		    uint64_t *ret_left);

/* `len` bytes have been taken: from the inbox when `from_inbox`, else straight from the socket. */
void eddyi_body_took(struct eddyi_body *body, struct eddyi_wire *wire, uint64_t len,
		     bool from_inbox);

/* Let no more than `max` bytes come, unless fewer may already: past it -EFBIG. */
void eddyi_body_limit(struct eddyi_body *body, uint64_t max);

/* Note that the body failed, so that nothing tries to read on. */
void eddyi_body_fail(struct eddyi_body *body, int error);

/* Whether what is left may be read and thrown away to keep the connection, by what is known of it
 * before reading. */
bool eddyi_body_can_drain(const struct eddyi_body *body);

/* Read what is left and throw it away. Suspends. Return: 0, -errno when that was too much. */
int eddyi_body_drain(struct eddyi_body *body, struct eddyi_wire *wire);

#endif
