/* framed.h: the body of a request, or of a client's response, read from its connection. */
#ifndef EDDYI_FRAMED_H
#define EDDYI_FRAMED_H

#include "chunked.h"
#include "message/body.h"

struct eddyi_wire;

enum eddyi_framing {
	EDDYI_BODY_NONE,
	EDDYI_BODY_LENGTH,
	EDDYI_BODY_CHUNKED,
	EDDYI_BODY_CLOSE, /* of a response: until the connection ends */
};

struct eddyi_framed_body {
	struct eddyi_body body;
	enum eddyi_framing framing;
	uint64_t left; /* LENGTH: bytes not yet received */
	struct eddyi_chunked chunked;
	bool expects; /* the client waits for a 100 Continue */
};

/* Begin a body of this framing; `length` is that of EDDYI_BODY_LENGTH. */
static inline void eddyi_framed_begin(struct eddyi_framed_body *framed, enum eddyi_framing framing,
				      uint64_t length)
{
	*framed = (struct eddyi_framed_body){
		.framing = framing,
		.left = length,
		.body.max = UINT64_MAX,
		.body.ended = framing == EDDYI_BODY_NONE ||
			      (framing == EDDYI_BODY_LENGTH && !length),
	};
}

/* Read some of the body. Suspends. Return: bytes; 0 at its end; -errno as eddy_req_read(). */
ssize_t eddyi_framed_read(struct eddyi_framed_body *framed, struct eddyi_wire *wire, void *buf,
			  size_t len);

/* Get the next bytes of the body: `*ret_bytes` those that have arrived, maybe none, and `*ret_left`
 * the number that follows them on the socket without framing. The caller consumes them by
 * eddyi_framed_took(). Suspends.
 * Return: 1 if there are any, 0 at the end, -errno. */
int eddyi_framed_next(struct eddyi_framed_body *framed, struct eddyi_wire *wire,
		      struct eddy_str *ret_bytes, uint64_t *ret_left);

/* Consume `len` bytes, from the inbox if `from_inbox`, else received directly from the socket. */
void eddyi_framed_took(struct eddyi_framed_body *framed, struct eddyi_wire *wire, uint64_t len,
		       bool from_inbox);

/* The most bytes of a body that are discarded to keep the connection. */
#define EDDYI_DRAIN_MAX (256 * EDDY_KIB)

/* Whether the rest may be read and discarded to keep the connection, judged before reading it. */
static inline bool eddyi_framed_can_drain(const struct eddyi_framed_body *framed)
{
	if (framed->body.error)
		return false;
	if (framed->body.ended)
		return true;
	/* A client that waits for a 100 Continue may or may not send the body. */
	if (framed->expects)
		return false;
	return framed->framing == EDDYI_BODY_CHUNKED || framed->left <= EDDYI_DRAIN_MAX;
}

/* Read and discard the rest. Suspends. Return: 0; -errno if it is too long or too slow. */
int eddyi_framed_drain(struct eddyi_framed_body *framed, struct eddyi_wire *wire);

#endif
