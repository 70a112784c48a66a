/* A connection whose response is the messages of a channel, after its exchange: it has no task.
 * Comments and the end of the stream are sent between the messages. */
#include "http1.h"

#include "events/events_channel.h"
#include "events/events.h"
#include "wire/sender.h"
#include "wire/tls_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LAST_CHUNK "0\r\n\r\n"
#define CHUNKED_COMMENT "3\r\n" EDDYI_EVENTS_KEEP_ALIVE "\r\n"

/* Invariants:
 * 1. `unsent` is of the next message if `sends_post`, else static.
 * 2. It is freed once it is over, and `sender` is not busy. */
struct eddyi_listener {
	struct eddyi_receiver receiver;
	struct eddyi_conn *conn;
	struct eddyi_sender sender;
	struct eddy_str unsent;
	bool sends_post;
	bool chunked;
	bool has_last; /* the end of the stream is `unsent`, or sent */
	bool over;
	struct eddy_str topic; /* in `topic_bytes` */
	char topic_bytes[];
};

static void wake(struct eddyi_receiver *receiver);

int eddyi_http1_listen(struct eddy_req *req, struct eddy_events_channel *channel,
		       struct eddy_str topic, struct eddyi_post *at)
{
	struct eddyi_http1 *http1 = eddyi_http1_of(req);
	struct eddyi_listener *listener =
		http1->listener ? NULL : calloc(1, sizeof(*listener) + topic.len);
	int r;

	if (!listener) {
		eddyi_post_unref(&channel->fanout, at);
		return http1->listener ? -EBUSY : -ENOMEM;
	}
	listener->receiver.wake = wake;
	if (topic.len)
		memcpy(listener->topic_bytes, topic.ptr, topic.len);
	listener->topic = eddy_str(topic.ptr ? listener->topic_bytes : NULL, topic.len);
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

/* Close the connection once nothing uses the listener. */
static void settle(struct eddyi_listener *listener)
{
	struct eddyi_conn *conn = listener->conn;

	if (!listener->over || eddyi_sender_is_busy(&listener->sender))
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
	eddy_op_cancel(&listener->sender.op);
	settle(listener);
}

static struct eddyi_listener *sent_by(struct eddyi_sender *sender)
{
	return eddy_of(sender, struct eddyi_listener, sender);
}

/* Choose what is sent next: a message, or the end. */
static struct eddy_str next(struct eddyi_sender *sender)
{
	struct eddyi_listener *listener = sent_by(sender);
	const struct eddyi_events_text *message;

	if (listener->unsent.len)
		return listener->unsent;
	message = eddyi_channel_next(&listener->receiver, listener->topic);
	if (message) {
		listener->unsent = listener->chunked ? message->chunk : message->text;
		listener->sends_post = true;
	} else if (!listener->has_last &&
		   (listener->conn->parked.last || eddyi_channel_has_ended(&listener->receiver))) {
		listener->unsent = listener->chunked ? EDDY_STR(LAST_CHUNK) : EDDY_STR("");
		listener->has_last = true;
	}
	return listener->unsent;
}

static void advance(struct eddyi_sender *sender, size_t len)
{
	struct eddyi_listener *listener = sent_by(sender);

	listener->unsent = eddy_str_skip(listener->unsent, len);
	eddy_timeout_touch(&listener->conn->wire.timeout);
	if (!listener->unsent.len && listener->sends_post) {
		listener->sends_post = false;
		eddyi_receiver_advance(&listener->receiver, 1);
	}
}

/* Send what there is, unless an op does. */
static void flow(struct eddyi_listener *listener)
{
	if (!listener->over) {
		eddyi_sender_flow(&listener->sender);
		listener->over = listener->has_last && !eddyi_sender_is_busy(&listener->sender);
	}
	settle(listener);
}

static void sent(struct eddyi_sender *sender, int error)
{
	struct eddyi_listener *listener = sent_by(sender);

	if (error < 0 && !listener->over)
		cut(listener);
	else
		flow(listener);
}

static const struct eddyi_sender_verbs sender_verbs = { next, advance, sent };

static void wake(struct eddyi_receiver *receiver)
{
	struct eddyi_listener *listener = eddy_of(receiver, struct eddyi_listener, receiver);

	/* Its exchange has not ended. */
	if (!listener->conn || listener->over)
		return;
	if (!eddyi_sender_is_busy(&listener->sender)) {
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
	struct eddy_timeout_queue *clock = &listener->receiver.branch->clock;

	if (listener->over)
		return;
	eddy_timeout_arm(timeout, clock);
	if (eddyi_sender_stalled_ns(&listener->sender) / 2 >= clock->duration_ns) {
		cut(listener);
	} else if (!eddyi_sender_is_busy(&listener->sender)) {
		listener->unsent = listener->chunked ? EDDY_STR(CHUNKED_COMMENT) :
						       EDDY_STR(EDDYI_EVENTS_KEEP_ALIVE);
		flow(listener);
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

/* A client has nothing more to say, but that it leaves. */
static void resume(struct eddyi_parked *parked, struct eddy_str bytes, int result, bool last)
{
	struct eddyi_listener *listener = listener_of(parked);
	bool goes_on = result > 0 || result == -ENOBUFS || result == -EINTR || result == -ECANCELED;

	if (!listener || listener->over)
		return;
	if (!goes_on || eddyi_tls_wire_take(&listener->conn->wire, bytes, ignore, NULL) < 0) {
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
	if (listener_of(parked))
		flow(listener_of(parked));
}

static bool is_waiting(const struct eddyi_parked *parked)
{
	return listener_of(parked);
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
	.is_waiting = is_waiting,
	.describe = describe,
	.free = eddyi_conn_free,
};

void eddyi_http1_park_listener(struct eddyi_conn *conn, struct eddyi_listener *listener)
{
	struct eddy_timeout_queue *clock = &listener->receiver.branch->clock;
	struct eddyi_wire *wire = &conn->wire;

	conn->parked.verbs = &verbs;
	conn->listener = listener;
	listener->conn = conn;
	listener->sender.verbs = &sender_verbs;
	listener->sender.wire = wire;
	wire->ahead = NULL;
	wire->timeout.expire = look;
	eddyi_wire_consume(wire, eddyi_wire_pending(wire).len);
	eddy_timeout_arm(&wire->timeout, clock);
	if (!eddy_op_is_started(&conn->parked.op))
		eddyi_parked_receive(&conn->parked, 0);
	if (conn->parked.evicted || wire->ended ||
	    eddyi_tls_wire_take(wire, EDDY_STR(""), ignore, NULL) < 0)
		cut(listener);
	else
		flow(listener);
}
