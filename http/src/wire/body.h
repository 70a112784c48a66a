/* body.h: the body of a request, or of a client's response, read from its connection. */
#ifndef EDDYI_BODY_H
#define EDDYI_BODY_H

#include "message/chunked.h"
#include "message/head.h"

struct eddyi_wire;

struct eddyi_body {
	enum eddyi_framing framing;
	uint64_t left; /* LENGTH: bytes not yet received */
	uint64_t max;  /* limit of bytes in all; beyond it -EFBIG */
	uint64_t took; /* bytes received */
	/* Of `took`, bytes that are framing of multipart forms. */
	uint64_t trimmings;
	struct eddyi_chunked chunked;
	bool expects; /* the client waits for a 100 Continue */
	bool ended;
	int error; /* the first error, which all further reads return */
};

/* Begin a body of this framing; `length` is that of EDDYI_BODY_LENGTH. */
void eddyi_body_begin(struct eddyi_body *body, enum eddyi_framing framing, uint64_t length);

/* Begin the body that a request's head declares. */
void eddyi_body_init(struct eddyi_body *body, const struct eddyi_head *head);

/* Read some of the body. Suspends. Return: bytes; 0 at its end; -errno as eddy_req_read(). */
ssize_t eddyi_body_read(struct eddyi_body *body, struct eddyi_wire *wire, void *buf, size_t len);

/* Get the next bytes of the body: `*ret_bytes` those that have arrived, maybe none, and `*ret_left`
 * the number that follows them on the socket without framing. The caller consumes them by
 * eddyi_body_took(). Suspends.
 * Return: 1 if there are any, 0 at the end, -errno. */
int eddyi_body_next(struct eddyi_body *body, struct eddyi_wire *wire, struct eddy_str *ret_bytes,
		    uint64_t *ret_left);

/* Consume `len` bytes, from the inbox if `from_inbox`, else received directly from the socket. */
void eddyi_body_took(struct eddyi_body *body, struct eddyi_wire *wire, uint64_t len,
		     bool from_inbox);

/* Lower the limit of bytes to `max`; beyond it reads fail with -EFBIG. */
void eddyi_body_limit(struct eddyi_body *body, uint64_t max);

/* Make all further reads fail with `error`. */
void eddyi_body_fail(struct eddyi_body *body, int error);

/* Whether the rest may be read and discarded to keep the connection, judged before reading it. */
bool eddyi_body_can_drain(const struct eddyi_body *body);

/* Read and discard the rest. Suspends. Return: 0; -errno if it is too long or too slow. */
int eddyi_body_drain(struct eddyi_body *body, struct eddyi_wire *wire);

#endif
