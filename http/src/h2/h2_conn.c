/* A connection from its preface to its end. */
#include "h2.h"

#include "h2_output.h"
#include "wire/tls_wire.h"

#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Bytes that one receive gets, in as many results as they arrive in. */
#define AHEAD_MAX (64 * EDDY_KIB)
/* While a body arrives quickly, receive up to this much at once, so often in a turn of the loop. */
#define AT_ONCE ((size_t)(256 * EDDY_KIB))
_Static_assert(AT_ONCE <= EDDYI_BLOCK_SIZE, "a block has room for a receive");
#define AT_ONCE_TIMES 4
#define QUICK (4 * EDDY_KIB)

static struct eddyi_conn *conn_of(const struct eddyi_parked *parked)
{
	return eddy_of(parked, struct eddyi_conn, parked);
}

/* ---- the end ---- */

static void close_streams(struct eddyi_h2 *h2)
{
	struct eddy_node *node, *next;

	for (node = h2->streams.next; node != &h2->streams; node = next) {
		struct eddyi_h2_stream *stream = eddy_of(node, struct eddyi_h2_stream, node);

		next = node->next;
		if (stream->closed)
			continue;
		nghttp2_session_set_stream_user_data(h2->session, stream->id, NULL);
		eddyi_h2_stream_close(stream, true);
	}
}

void eddyi_h2_abort(struct eddyi_h2 *h2)
{
	if (h2->over)
		return;
	h2->over = h2->cut = true;
	eddy_op_cancel(&h2->sender.op);
	/* That also ends the receive. */
	eddyi_shutdown_now(h2->conn->wire.fd, SHUT_RDWR);
	close_streams(h2);
}

static void finish(struct eddyi_h2 *h2)
{
	struct eddyi_conn *conn = h2->conn;
	/* When an idle connection expires, no request of its client is expected under way. */
	bool lingers = !h2->cut && (!h2->ended || h2->condemned) && !conn->parked.evicted &&
		       !conn->parked.expired;

	close_streams(h2);
	eddyi_h2_pace_end(h2);
	eddyi_h2_output_deinit(h2);
	nghttp2_session_del(h2->session);
	conn->h2 = NULL;
	free(h2);
	eddyi_conn_end_h2(conn, lingers);
}

/* Send the last frame, which says how far requests have been handled. */
static void say_goodbye(struct eddyi_h2 *h2)
{
	if (!h2->leaving && !h2->over)
		nghttp2_session_terminate_session(h2->session, NGHTTP2_NO_ERROR);
	h2->leaving = true;
	eddyi_h2_output_send(h2);
}

static bool is_done(const struct eddyi_h2 *h2)
{
	const struct eddyi_parked *parked = &h2->conn->parked;

	return h2->ended || parked->evicted || parked->expired || h2->notified ||
	       !nghttp2_session_want_read(h2->session);
}

/* Until the client has seen the first GOAWAY of a shutdown, it may have sent a request. */
static void wait_idle(struct eddyi_h2 *h2)
{
	struct eddyi_clocks *clocks = h2->conn->wire.clocks;
	bool has_asked = nghttp2_session_get_last_proc_stream_id(h2->session);

	if (h2->stopping)
		eddyi_parked_wait(&h2->conn->parked, EDDYI_STANDING_HEAD, &clocks->pace, 0);
	else
		eddyi_parked_wait(&h2->conn->parked,
				  has_asked ? EDDYI_STANDING_IDLE : EDDYI_STANDING_HEAD,
				  &clocks->idle, 0);
}

static void receive_more(struct eddyi_h2 *h2)
{
	if (!eddy_op_is_started(&h2->conn->parked.op) && !h2->ended)
		eddyi_parked_receive(&h2->conn->parked, h2->is_quick ? 0 : AHEAD_MAX);
}

/* The client sends no more, and streams that it lets send nothing have to end. */
static void wake_shut_streams(struct eddyi_h2 *h2)
{
	for (struct eddy_node *node = h2->streams.next; node != &h2->streams; node = node->next) {
		struct eddyi_h2_stream *stream = eddy_of(node, struct eddyi_h2_stream, node);

		if (eddyi_h2_stream_is_shut(stream))
			eddy_event_set(&stream->flowed);
	}
}

void eddyi_h2_settle(struct eddyi_h2 *h2)
{
	struct eddyi_conn *conn = h2->conn;
	struct eddyi_parked *parked = &conn->parked;
	bool busy = eddyi_sender_is_busy(&h2->sender);

	/* Behind the last frame of a session that has failed, nothing follows. */
	if (h2->tasks && !busy && !h2->over && !nghttp2_session_want_read(h2->session) &&
	    eddyi_h2_output_is_empty(h2))
		close_streams(h2);
	if (h2->ended && !busy && !h2->over)
		wake_shut_streams(h2);
	if (!h2->tasks && !busy && !h2->over && is_done(h2)) {
		say_goodbye(h2);
		busy = eddyi_sender_is_busy(&h2->sender);
		h2->over |= !busy && eddyi_h2_output_is_empty(h2);
		/* An evicted connection does not wait until GOAWAY is sent. */
		if (parked->evicted)
			eddyi_h2_abort(h2);
	}
	if (h2->over) {
		if (!h2->tasks && !busy)
			finish(h2);
		return;
	}
	if (!h2->tasks && !busy) {
		wait_idle(h2);
		return;
	}
	if (parked->state == EDDYI_PARKED_IDLE)
		eddyi_parked_leave(parked);
	if (!busy)
		eddyi_wire_unguard(&conn->wire);
	else if (busy && !eddyi_is_limited_by(parked->timeout, &conn->wire.clocks->write))
		eddyi_wire_guard(&conn->wire, &conn->wire.clocks->write);
	receive_more(h2);
}

/* ---- the parked connection ---- */

/* The client sends no more: bodies that are not complete are lost. */
static void end_input(struct eddyi_h2 *h2)
{
	h2->ended = true;
	for (struct eddy_node *node = h2->streams.next; node != &h2->streams; node = node->next)
		eddyi_h2_stream_end_input(eddy_of(node, struct eddyi_h2_stream, node));
}

static int take_in(void *arg, const char *bytes, size_t len)
{
	return eddyi_h2_session_feed(arg, bytes, len);
}

static void receive(struct eddyi_h2 *h2, struct eddy_str bytes)
{
	uint64_t before = h2->received;
	int r = eddyi_tls_wire_take(&h2->conn->wire, bytes, take_in, h2);

	h2->is_quick = h2->received - before >= QUICK;
	/* A last frame may say why. */
	if (r < 0)
		end_input(h2);
	eddyi_h2_output_send(h2);
}

/* Receive into the buffer of the TLS session, or into `block`. */
static ssize_t receive_now(struct eddyi_wire *wire, char *block)
{
	char *room = block;
	ssize_t r = AT_ONCE;

	if (EDDYI_TLS && wire->tls)
		r = eddyi_tls_buffers_room(&wire->tls->buffers, &room);
	if (r > 0)
		r = eddyi_recv_now(wire->fd, room, (size_t)r, MSG_DONTWAIT);
	if (EDDYI_TLS && wire->tls)
		eddyi_tls_received(wire->tls, r > 0 ? (size_t)r : 0);
	return r;
}

/* Receive what else is there, when no op does. Larger pieces take less time. */
static void receive_at_once(struct eddyi_h2 *h2)
{
	struct eddyi_blocks *blocks = &h2->conn->parked.conns->blocks;
	bool is_tls = EDDYI_TLS && h2->conn->wire.tls;
	char *block = h2->is_quick && !is_tls ? eddyi_blocks_take(blocks) : NULL;

	for (int i = 0; i < AT_ONCE_TIMES && h2->is_quick && !h2->ended && !h2->over; i++) {
		ssize_t r = is_tls || block ? receive_now(&h2->conn->wire, block) : -ENOMEM;

		/* The op gets the end and errors, too. */
		if (r <= 0)
			break;
		receive(h2, is_tls ? EDDY_STR("") : eddy_str(block, (size_t)r));
	}
	if (block)
		eddyi_blocks_give_back(blocks, block);
}

static void resume(struct eddyi_parked *parked, struct eddy_str bytes, int result, bool last)
{
	struct eddyi_h2 *h2 = conn_of(parked)->h2;

	if (!h2)
		return;
	if (result > 0 && !h2->over)
		receive(h2, bytes);
	else if (result == 0)
		end_input(h2);
	else if (result != -ENOBUFS && result != -EINTR && result != -ECANCELED)
		eddyi_h2_abort(h2);
	if (last && result > 0)
		receive_at_once(h2);
	eddyi_h2_settle(h2);
}

static void evict(struct eddyi_parked *parked)
{
	struct eddyi_h2 *h2 = conn_of(parked)->h2;

	if (!h2)
		return;
	for (struct eddy_node *node = h2->streams.next; node != &h2->streams; node = node->next)
		eddyi_exchange_cut(&eddy_of(node, struct eddyi_h2_stream, node)->req);
	eddyi_h2_abort(h2);
	eddyi_h2_settle(h2);
}

/* Requests that the client sends before it sees this are still handled. */
static void stop(struct eddyi_parked *parked)
{
	struct eddyi_h2 *h2 = conn_of(parked)->h2;

	if (!h2 || h2->over || h2->stopping)
		return;
	parked->partial = h2->stopping = true;
	eddyi_h2_session_check(h2, nghttp2_submit_shutdown_notice(h2->session));
	eddyi_h2_output_send_soon(h2);
}

static bool is_waiting(const struct eddyi_parked *parked)
{
	const struct eddyi_h2 *h2 = conn_of(parked)->h2;

	return h2 && (eddyi_sender_stalled_ns(&h2->sender) > EDDYI_PAUSE_NS ||
		      eddyi_h2_pace_has_paused(h2));
}

static void describe(const struct eddyi_parked *parked, char text[EDDYI_PARKED_TEXT_SIZE])
{
	snprintf(text, EDDYI_PARKED_TEXT_SIZE, "a connection of HTTP/2 to %s",
		 conn_of(parked)->stream.bound);
}

static const struct eddyi_parked_verbs verbs = {
	.resume = resume,
	.evict = evict,
	.stop = stop,
	.is_waiting = is_waiting,
	.describe = describe,
	.free = eddyi_conn_free,
};

static void time_is_up(struct eddy_timeout *timeout)
{
	struct eddyi_conn *conn = eddy_of(timeout, struct eddyi_conn, wire.timeout);

	if (conn->parked.state == EDDYI_PARKED_IDLE) {
		eddyi_parked_expire(&conn->parked);
	} else if (eddyi_wire_has_stalled(&conn->wire)) {
		eddyi_parked_tell(&conn->parked, "its client takes nothing");
		eddyi_h2_abort(conn->h2);
		eddyi_h2_settle(conn->h2);
	}
}

/* ---- the beginning ---- */

static int take_in_all(struct eddyi_h2 *h2, struct eddy_str bytes)
{
	struct eddyi_wire *wire = &h2->conn->wire;
	struct eddy_str pending = eddyi_wire_pending(wire);
	int r = eddyi_h2_session_feed(h2, bytes.ptr, bytes.len);

	if (r == 0 && pending.len)
		r = eddyi_h2_session_feed(h2, pending.ptr, pending.len);
	if (pending.len)
		eddyi_wire_consume(wire, pending.len);
	return r == 0 ? eddyi_tls_wire_take(wire, EDDY_STR(""), take_in, h2) : r;
}

bool eddyi_conn_speak_h2(struct eddyi_conn *conn, struct eddy_str bytes)
{
	struct eddyi_h2 *h2 = calloc(1, sizeof(*h2));

	if (!h2)
		return false;
	eddy_list_init(&h2->streams);
	h2->conn = conn;
	if (eddyi_h2_session_begin(h2) < 0) {
		nghttp2_session_del(h2->session);
		free(h2);
		return false;
	}
	eddyi_h2_output_init(h2);
	eddyi_h2_pace_begin(h2);
	conn->h2 = h2;
	eddyi_conn_count(conn->parked.conns, h2_begun);
	conn->parked.verbs = &verbs;
	conn->parked.partial = false;
	conn->wire.ahead = NULL;
	conn->wire.timeout.expire = time_is_up;
	if (conn->parked.state == EDDYI_PARKED_IDLE)
		eddyi_parked_leave(&conn->parked);
	if (take_in_all(h2, bytes) < 0)
		end_input(h2);
	if (conn->parked.last)
		stop(&conn->parked);
	eddyi_h2_output_send(h2);
	eddyi_h2_settle(h2);
	return true;
}
