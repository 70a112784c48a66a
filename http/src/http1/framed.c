#include "framed.h"

#include "wire/wire.h"

#include <eddy/scope.h>
#include <errno.h>

/* Limits for discarding the rest of a body after an early response. */
#define DRAIN_NS (5 * EDDY_SECOND)

/* Send 100 Continue at the first read, unless the body has begun to arrive. */
static int answer_expectation(struct eddyi_framed_body *framed, struct eddyi_wire *wire)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (!framed->expects)
		return 0;
	framed->expects = false;
	if (eddyi_wire_pending(wire).len)
		return 0;
	return eddyi_wire_send(wire, go_on, sizeof(go_on) - 1);
}

/* Check what has arrived, and what is known to follow. Return: 1, -EFBIG. */
static int check_limit(struct eddyi_framed_body *framed, struct eddy_str here, uint64_t left)
{
	if (framed->body.took > framed->body.max ||
	    here.len + left > framed->body.max - framed->body.took)
		return eddyi_body_fail(&framed->body, -EFBIG);
	return 1;
}

static int next_of_length(struct eddyi_framed_body *framed, struct eddyi_wire *wire,
			  struct eddy_str *ret_bytes, uint64_t *ret_left)
{
	struct eddy_str here = eddyi_wire_pending(wire);

	if (here.len > framed->left)
		here.len = (size_t)framed->left;
	*ret_bytes = here;
	*ret_left = framed->left - here.len;
	return check_limit(framed, here, *ret_left);
}

/* Remove the framing before the next data.
 * Return: 1 if data follows, 0 at the end, -EAGAIN if more bytes are needed, -errno. */
static int unframe(struct eddyi_framed_body *framed, struct eddyi_wire *wire)
{
	struct eddy_str here = eddyi_wire_pending(wire), rest = here;
	int r = eddyi_chunked_next(&framed->chunked, &rest);

	eddyi_wire_consume(wire, here.len - rest.len);
	if (r == -ENODATA) {
		framed->body.ended = true;
		return 0;
	}
	if (r < 0)
		return eddyi_body_fail(&framed->body, r);
	return eddyi_chunked_has_data(&framed->chunked) ? 1 : -EAGAIN;
}

static int next_of_chunked(struct eddyi_framed_body *framed, struct eddyi_wire *wire,
			   struct eddy_str *ret_bytes, uint64_t *ret_left)
{
	struct eddy_str here;
	int r;

	while ((r = unframe(framed, wire)) == -EAGAIN) {
		ssize_t filled = eddyi_wire_fill(wire);

		if (filled < 0)
			return eddyi_body_fail(&framed->body, (int)filled);
	}
	if (r <= 0)
		return r;
	here = eddyi_wire_pending(wire);
	if (here.len > framed->chunked.left)
		here.len = (size_t)framed->chunked.left;
	*ret_bytes = here;
	*ret_left = framed->chunked.left - here.len;
	return check_limit(framed, here, *ret_left);
}

int eddyi_framed_next(struct eddyi_framed_body *framed, struct eddyi_wire *wire,
		      struct eddy_str *ret_bytes, uint64_t *ret_left)
{
	int r;

	if (framed->body.error)
		return framed->body.error;
	if (framed->body.ended)
		return 0;
	r = answer_expectation(framed, wire);
	if (r < 0)
		return eddyi_body_fail(&framed->body, r);
	if (framed->framing == EDDYI_BODY_LENGTH)
		return next_of_length(framed, wire, ret_bytes, ret_left);
	return next_of_chunked(framed, wire, ret_bytes, ret_left);
}

void eddyi_framed_took(struct eddyi_framed_body *framed, struct eddyi_wire *wire, uint64_t len,
		       bool from_inbox)
{
	if (from_inbox)
		eddyi_wire_consume(wire, (size_t)len);
	framed->body.took += len;
	if (framed->framing == EDDYI_BODY_CHUNKED) {
		framed->chunked.left -= len;
	} else {
		framed->left -= len;
		framed->body.ended = framed->left == 0;
	}
}

/* Copy what has arrived, across small chunks. Return: bytes. */
static size_t copy_here(struct eddyi_framed_body *framed, struct eddyi_wire *wire,
			struct eddy_str here, char *buf, size_t len)
{
	size_t copied = 0;
	uint64_t left;

	do {
		if (here.len > len - copied)
			here.len = len - copied;
		memcpy(buf + copied, here.ptr, here.len);
		copied += here.len;
		eddyi_framed_took(framed, wire, here.len, true);
	} while (copied < len && framed->framing == EDDYI_BODY_CHUNKED &&
		 unframe(framed, wire) == 1 && next_of_chunked(framed, wire, &here, &left) == 1 &&
		 here.len);
	return copied;
}

ssize_t eddyi_framed_read(struct eddyi_framed_body *framed, struct eddyi_wire *wire, void *buf,
			  size_t len)
{
	struct eddy_str here;
	uint64_t left;
	ssize_t r;

	r = eddyi_framed_next(framed, wire, &here, &left);
	if (r <= 0 || !len)
		return r < 0 ? r : 0;
	if (here.len)
		return (ssize_t)copy_here(framed, wire, here, buf, len);
	if (len > left)
		len = (size_t)left;
	r = eddyi_wire_recv(wire, buf, len);
	if (r < 0)
		return eddyi_body_fail(&framed->body, (int)r);
	eddyi_framed_took(framed, wire, (uint64_t)r, false);
	return r;
}

int eddyi_framed_drain(struct eddyi_framed_body *framed, struct eddyi_wire *wire)
{
	struct eddy_scope scope;
	uint64_t drained = 0;
	char buf[4096];
	ssize_t r = 0;

	if (framed->body.ended)
		return 0;
	/* Limit the total time, also for a client that sends a byte now and then. */
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = DRAIN_NS });
	while (drained <= EDDYI_DRAIN_MAX) {
		r = eddyi_framed_read(framed, wire, buf, sizeof(buf));
		if (r <= 0)
			break;
		drained += (uint64_t)r;
	}
	if (eddy_scope_end(&scope) == -ETIMEDOUT || r > 0)
		return eddyi_body_fail(&framed->body, -EMSGSIZE);
	return (int)r;
}
