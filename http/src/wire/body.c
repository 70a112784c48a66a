#include "body.h"

#include "wire.h"

#include <eddy/scope.h>
#include <errno.h>

/* Limits for discarding the rest of a body after an early response. */
#define DRAIN_MAX (256 * EDDY_KIB)
#define DRAIN_NS (5 * EDDY_SECOND)

void eddyi_body_begin(struct eddyi_body *body, enum eddyi_framing framing, uint64_t length)
{
	*body = (struct eddyi_body){
		.framing = framing,
		.left = length,
		.max = UINT64_MAX,
		.ended = framing == EDDYI_BODY_NONE || (framing == EDDYI_BODY_LENGTH && !length),
	};
}

void eddyi_body_init(struct eddyi_body *body, const struct eddyi_head *head)
{
	eddyi_body_begin(body, head->framing, head->length);
	body->expects = head->expect_continue;
}

void eddyi_body_limit(struct eddyi_body *body, uint64_t max)
{
	if (max < body->max)
		body->max = max;
}

void eddyi_body_fail(struct eddyi_body *body, int error)
{
	if (!body->error)
		body->error = error;
}

static int fail(struct eddyi_body *body, int error)
{
	eddyi_body_fail(body, error);
	return error;
}

/* Send 100 Continue at the first read, unless the body has begun to arrive. */
static int answer_expectation(struct eddyi_body *body, struct eddyi_wire *wire)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (!body->expects)
		return 0;
	body->expects = false;
	if (eddyi_wire_pending(wire).len)
		return 0;
	return eddyi_wire_send(wire, go_on, sizeof(go_on) - 1);
}

/* Check what has arrived, and what is known to follow. Return: 1, -EFBIG. */
static int check_limit(struct eddyi_body *body, struct eddy_str here, uint64_t left)
{
	if (body->took > body->max || here.len + left > body->max - body->took)
		return fail(body, -EFBIG);
	return 1;
}

static int next_of_length(struct eddyi_body *body, struct eddyi_wire *wire,
			  struct eddy_str *ret_bytes, uint64_t *ret_left)
{
	struct eddy_str here = eddyi_wire_pending(wire);

	if (here.len > body->left)
		here.len = (size_t)body->left;
	*ret_bytes = here;
	*ret_left = body->left - here.len;
	return check_limit(body, here, *ret_left);
}

/* Remove the framing before the next data.
 * Return: 1 if data follows, 0 at the end, -EAGAIN if more bytes are needed, -errno. */
static int unframe(struct eddyi_body *body, struct eddyi_wire *wire)
{
	struct eddy_str here = eddyi_wire_pending(wire), rest = here;
	int r = eddyi_chunked_next(&body->chunked, &rest);

	eddyi_wire_consume(wire, here.len - rest.len);
	if (r == -ENODATA) {
		body->ended = true;
		return 0;
	}
	if (r < 0)
		return fail(body, r);
	return eddyi_chunked_has_data(&body->chunked) ? 1 : -EAGAIN;
}

static int next_of_chunked(struct eddyi_body *body, struct eddyi_wire *wire,
			   struct eddy_str *ret_bytes, uint64_t *ret_left)
{
	struct eddy_str here;
	int r;

	while ((r = unframe(body, wire)) == -EAGAIN) {
		ssize_t filled = eddyi_wire_fill(wire);

		if (filled < 0)
			return fail(body, (int)filled);
	}
	if (r <= 0)
		return r;
	here = eddyi_wire_pending(wire);
	if (here.len > body->chunked.left)
		here.len = (size_t)body->chunked.left;
	*ret_bytes = here;
	*ret_left = body->chunked.left - here.len;
	return check_limit(body, here, *ret_left);
}

int eddyi_body_next(struct eddyi_body *body, struct eddyi_wire *wire, struct eddy_str *ret_bytes,
		    uint64_t *ret_left)
{
	int r;

	if (body->error)
		return body->error;
	if (body->ended)
		return 0;
	r = answer_expectation(body, wire);
	if (r < 0)
		return fail(body, r);
	if (body->framing == EDDYI_BODY_LENGTH)
		return next_of_length(body, wire, ret_bytes, ret_left);
	return next_of_chunked(body, wire, ret_bytes, ret_left);
}

void eddyi_body_took(struct eddyi_body *body, struct eddyi_wire *wire, uint64_t len,
		     bool from_inbox)
{
	if (from_inbox)
		eddyi_wire_consume(wire, (size_t)len);
	body->took += len;
	if (body->framing == EDDYI_BODY_CHUNKED) {
		body->chunked.left -= len;
	} else {
		body->left -= len;
		body->ended = body->left == 0;
	}
}

/* Copy what has arrived, across small chunks. Return: bytes. */
static size_t copy_here(struct eddyi_body *body, struct eddyi_wire *wire, struct eddy_str here,
			char *buf, size_t len)
{
	size_t copied = 0;
	uint64_t left;

	do {
		if (here.len > len - copied)
			here.len = len - copied;
		memcpy(buf + copied, here.ptr, here.len);
		copied += here.len;
		eddyi_body_took(body, wire, here.len, true);
	} while (copied < len && body->framing == EDDYI_BODY_CHUNKED && unframe(body, wire) == 1 &&
		 next_of_chunked(body, wire, &here, &left) == 1 && here.len);
	return copied;
}

ssize_t eddyi_body_read(struct eddyi_body *body, struct eddyi_wire *wire, void *buf, size_t len)
{
	struct eddy_str here;
	uint64_t left;
	ssize_t r;

	r = eddyi_body_next(body, wire, &here, &left);
	if (r <= 0 || !len)
		return r < 0 ? r : 0;
	if (here.len)
		return (ssize_t)copy_here(body, wire, here, buf, len);
	if (len > left)
		len = (size_t)left;
	r = eddyi_wire_recv(wire, buf, len);
	if (r < 0)
		return fail(body, (int)r);
	eddyi_body_took(body, wire, (uint64_t)r, false);
	return r;
}

bool eddyi_body_can_drain(const struct eddyi_body *body)
{
	if (body->error)
		return false;
	if (body->ended)
		return true;
	/* A client that waits for a 100 Continue may or may not send the body. */
	if (body->expects)
		return false;
	return body->framing == EDDYI_BODY_CHUNKED || body->left <= DRAIN_MAX;
}

int eddyi_body_drain(struct eddyi_body *body, struct eddyi_wire *wire)
{
	struct eddy_scope scope;
	uint64_t drained = 0;
	char buf[4096];
	ssize_t r = 0;

	if (body->ended)
		return 0;
	/* Limit the total time, also for a client that sends a byte now and then. */
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = DRAIN_NS });
	while (drained <= DRAIN_MAX) {
		r = eddyi_body_read(body, wire, buf, sizeof(buf));
		if (r <= 0)
			break;
		drained += (uint64_t)r;
	}
	if (eddy_scope_end(&scope) == -ETIMEDOUT || r > 0)
		return fail(body, -EMSGSIZE);
	return (int)r;
}
