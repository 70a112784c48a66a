/* A connection whose response is the messages of a channel, after its exchange: it has no task. Comments
 * and the end of the stream are sent between the messages. */
#include "http1.h"

#include "events/events_channel.h"
#include "events/events.h"
#include "wire/tls_wire.h"

#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>

#define LAST_CHUNK "0\r\n\r\n"
#define CHUNKED_COMMENT "3\r\n" EDDYI_EVENTS_KEEP_ALIVE "\r\n"

/* Invariants:
 * 1. `unsent` is of the next message if `sends_post`, else static.
 * 2. `op` sends `unsent`, or encrypted bytes; what it sends stays valid.
 * 3. It is freed once it is over, and `op` is not started. */
struct eddyi_listener {
	struct eddyi_receiver receiver;
	struct eddyi_conn *conn;
	struct eddy_str unsent;
	struct eddy_op op;
	bool sends_post;
	bool chunked;
	bool stops;    /* the server does */
	bool has_last; /* the end of the stream is `unsent`, or sent */
	bool stalled;  /* nothing has gone since the timeout has expired before */
	bool over;
};

static void wake(struct eddyi_receiver *receiver);

int eddyi_http1_listen(struct eddy_req *req, struct eddy_events_channel *channel,
		       struct eddyi_post *at)
{
	struct eddyi_http1 *http1 = eddyi_http1_of(req);
	struct eddyi_listener *listener = http1->listener ? NULL : calloc(1, sizeof(*listener));
	int r;

	if (!listener) {
		eddyi_post_unref(&channel->fanout, at);
		return http1->listener ? -EBUSY : -ENOMEM;
	}
	listener->receiver.wake = wake;
	listener->chunked = http1->reply.chunked;
	r = eddyi_receiver_begin(&listener->receiver, &channel->fanout, at);
	if (r == 0)
		http1->listener = listener;
	else
		free(listener);
	return r;
}

void eddyi_listener_free(struct eddyi_listener *listener)
{
	if (!listener)
		return;
	eddyi_receiver_end(&listener->receiver);
	free(listener);
}

/* ---- sending ---- */

static bool seals(const struct eddyi_listener *listener)
{
	return EDDYI_TLS && eddyi_tls_wire_seals(&listener->conn->wire);
}

/* Close the connection once nothing uses the listener. */
static void settle(struct eddyi_listener *listener)
{
	struct eddyi_conn *conn = listener->conn;

	if (!listener->over || eddy_op_is_started(&listener->op))
		return;
	eddy_timeout_disarm(&conn->wire.timeout);
	conn->listener = NULL;
	eddyi_listener_free(listener);
	eddyi_wire_give_up(&conn->wire);
	eddyi_parked_close(&conn->parked);
}

/* End the connection within the stream. */
static void cut(struct eddyi_listener *listener)
{
	listener->over = true;
	eddyi_wire_cut(&listener->conn->wire);
	if (eddy_op_is_started(&listener->op))
		eddy_op_cancel(&listener->op);
	settle(listener);
}

/* Choose what is sent next: a message, or the end. Return: whether there is anything. */
static bool choose(struct eddyi_listener *listener)
{
	const struct eddyi_events_text *message = eddyi_receiver_next(&listener->receiver);

	if (listener->unsent.len)
		return true;
	if (message) {
		listener->unsent = listener->chunked ? message->chunk : message->text;
		listener->sends_post = true;
	} else if (!listener->has_last &&
		   (listener->stops || eddyi_channel_has_ended(&listener->receiver))) {
		listener->unsent = listener->chunked ? EDDY_STR(LAST_CHUNK) : EDDY_STR("");
		listener->has_last = true;
	}
	return listener->unsent.len;
}

/* Count bytes of `unsent` as sent. */
static void advance(struct eddyi_listener *listener, size_t len)
{
	listener->unsent = eddy_str_skip(listener->unsent, len);
	listener->stalled = false;
	eddy_timeout_touch(&listener->conn->wire.timeout);
	if (!listener->unsent.len && listener->sends_post) {
		listener->sends_post = false;
		eddyi_receiver_advance(&listener->receiver, 1);
	}
}

/* Send some without waiting. Return: bytes; 0 if none go; -errno. */
static ssize_t send_now(struct eddyi_listener *listener)
{
	struct eddyi_wire *wire = &listener->conn->wire;
	struct eddy_str unsent = listener->unsent;
	ssize_t sent;

	if (EDDYI_TLS && seals(listener))
		sent = (ssize_t)eddyi_tls_wire_push(wire, unsent.ptr, unsent.len);
	else
		sent = eddyi_send_now(wire->fd, unsent.ptr, unsent.len,
				      MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		advance(listener, (size_t)sent);
	return sent >= 0 ? sent : errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

static void sent(struct eddy_op *op, int result, unsigned flags);

/* Send the rest by an op. */
static void send_rest(struct eddyi_listener *listener)
{
	struct eddyi_wire *wire = &listener->conn->wire;
	struct eddy_str rest = listener->unsent;
	struct io_uring_sqe *sqe;

	if (seals(listener)) {
		rest = eddyi_tls_buffers_unsent(&wire->tls->buffers);
		wire->tls->sending = rest.len > 0;
	}
	if (!rest.len)
		return;
	sqe = eddy_op_begin(&listener->op, sent);
	io_uring_prep_send(sqe, wire->fd, rest.ptr, rest.len, MSG_NOSIGNAL);
	eddy_op_start(&listener->op, sqe);
}

/* Send what there is, unless an op does. */
static void flow(struct eddyi_listener *listener)
{
	ssize_t r = 0;

	if (eddy_op_is_started(&listener->op) || listener->over)
		return;
	do
		r = choose(listener) ? send_now(listener) : 0;
	while (r > 0);
	if (r == 0)
		send_rest(listener);
	if (eddy_op_is_started(&listener->op))
		return;
	if (listener->unsent.len) {
		cut(listener);
		return;
	}
	listener->over = listener->has_last;
	settle(listener);
}

static void sent(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_listener *listener = eddy_of(op, struct eddyi_listener, op);
	struct eddyi_wire *wire = &listener->conn->wire;

	(void)flags;
	if (seals(listener)) {
		wire->tls->sending = false;
		if (result > 0)
			eddyi_tls_buffers_sent(&wire->tls->buffers, (size_t)result);
		listener->stalled &= result <= 0;
	} else if (result > 0) {
		advance(listener, (size_t)result);
	}
	if (listener->over)
		settle(listener);
	else if (result < 0 && result != -EINTR && result != -EAGAIN)
		cut(listener);
	else
		flow(listener);
}

static void wake(struct eddyi_receiver *receiver)
{
	struct eddyi_listener *listener = eddy_of(receiver, struct eddyi_listener, receiver);

	/* Its exchange has not ended. */
	if (!listener->conn || listener->over)
		return;
	if (!eddy_op_is_started(&listener->op)) {
		flow(listener);
	} else if (eddyi_channel_lags(receiver)) {
		eddyi_parked_tell(&listener->conn->parked,
				  "its client reads the events too slowly");
		cut(listener);
	}
}

/* Nothing has been sent for a while: send a comment, unless the client takes nothing. */
static void look(struct eddy_timeout *timeout)
{
	struct eddyi_conn *conn = eddy_of(timeout, struct eddyi_conn, wire.timeout);
	struct eddyi_listener *listener = conn->listener;

	if (listener->over)
		return;
	eddy_timeout_arm(timeout, eddyi_receiver_clock(&listener->receiver));
	if (!eddy_op_is_started(&listener->op)) {
		listener->unsent = listener->chunked ? EDDY_STR(CHUNKED_COMMENT) :
						       EDDY_STR(EDDYI_EVENTS_KEEP_ALIVE);
		flow(listener);
	} else if (listener->stalled) {
		cut(listener);
	} else {
		listener->stalled = true;
	}
}

/* ---- the parked connection ---- */

static struct eddyi_listener *listener_of(const struct eddyi_parked *parked)
{
	return eddy_of(parked, struct eddyi_conn, parked)->listener;
}

static int ignore(void *arg, const char *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
	return 0;
}

/* Take what the client says of TLS. Return: 0, -errno. */
static int take(struct eddyi_wire *wire, struct eddy_str bytes)
{
	int r = 0;

	if (EDDYI_TLS && wire->tls && bytes.len)
		r = eddyi_tls_feed(wire->tls, bytes.ptr, bytes.len);
	return EDDYI_TLS && wire->tls && r == 0 ? eddyi_tls_wire_drain(wire, ignore, NULL) : r;
}

/* A client has nothing more to say, but that it leaves. */
static void resume(struct eddyi_parked *parked, struct eddy_str bytes, int result, bool last)
{
	struct eddyi_listener *listener = listener_of(parked);
	bool goes_on = result > 0 || result == -ENOBUFS || result == -EINTR || result == -ECANCELED;

	if (!listener || listener->over)
		return;
	if (!goes_on || take(&listener->conn->wire, bytes) < 0) {
		cut(listener);
		return;
	}
	if (last)
		eddyi_parked_receive(parked, 0);
	/* TLS may have to respond. */
	flow(listener);
}

static void evict(struct eddyi_parked *parked)
{
	if (listener_of(parked))
		cut(listener_of(parked));
}

static void stop(struct eddyi_parked *parked)
{
	struct eddyi_listener *listener = listener_of(parked);

	if (!listener || listener->over)
		return;
	listener->stops = true;
	flow(listener);
}

static void describe(const struct eddyi_parked *parked, char text[EDDYI_PARKED_TEXT_SIZE])
{
	snprintf(text, EDDYI_PARKED_TEXT_SIZE, "an event stream of %s",
		 eddy_of(parked, struct eddyi_conn, parked)->stream.bound);
}

static const struct eddyi_parked_verbs verbs = {
	.resume = resume,
	.evict = evict,
	.stop = stop,
	.describe = describe,
	.free = eddyi_conn_free,
};

void eddyi_http1_park_listener(struct eddyi_conn *conn, struct eddyi_listener *listener)
{
	struct eddy_timeout_queue *clock = eddyi_receiver_clock(&listener->receiver);
	struct eddyi_wire *wire = &conn->wire;
	size_t pending = eddyi_wire_pending(wire).len;

	conn->parked.verbs = &verbs;
	conn->listener = listener;
	listener->conn = conn;
	wire->ahead = NULL;
	wire->timeout.expire = look;
	if (pending)
		eddyi_wire_consume(wire, pending);
	if (clock)
		eddy_timeout_arm(&wire->timeout, clock);
	if (!eddy_op_is_started(&conn->parked.op))
		eddyi_parked_receive(&conn->parked, 0);
	listener->stops = conn->parked.last;
	if (conn->parked.evicted || wire->ended || take(wire, EDDY_STR("")) < 0)
		cut(listener);
	else
		flow(listener);
}
