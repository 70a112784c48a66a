#include "conn.h"

#include "app/app.h"
#include "exchange/peer.h"
#include "exchange/req.h"
#include "http1.h"
#include "wire/tls_wire.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/outside.h>
#include <eddy/log.h>
#include <eddy/loop.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define REST_SIZE (8 * EDDY_KIB)
/* Fits into the inbox together with the rest of a buffer. */
#define AHEAD_MAX (EDDYI_INBOX_SIZE / 2)

/* Wait for bytes of a request. Close an evicted connection, and during a shutdown that is not
 * patient an idle one. */
static void park(struct eddyi_conn *conn);
static void close_conn(struct eddyi_conn *conn);

static struct eddyi_conn *conn_of(const struct eddyi_parked *parked)
{
	return eddy_of(parked, struct eddyi_conn, parked);
}

/* Whether the TLS handshake is in progress. */
static inline bool is_shaking(const struct eddyi_conn *conn)
{
	return EDDYI_TLS && conn->wire.tls && conn->wire.tls->state < EDDYI_TLS_OPEN;
}

/* ---- input ---- */

static void refuse(struct eddyi_conn *conn, const char *why)
{
	eddyi_conn_count(conn->parked.conns, proxy_failures);
	eddy_debug("eddy::http", "a connection to %s from %.*s is closed: %s", conn->stream.bound,
		   EDDY_FMT(conn->end->peer.text), why);
}

/* Require a PROXY header at the start of a new connection. Return: false if the connection must be
 * closed: the peer is not a trusted proxy, or allocation failed. */
static bool await_proxy_header(struct eddyi_conn *conn)
{
	const struct eddyi_end *end = eddyi_conn_end(conn);

	conn->proxy_due = true;
	if (end && !end->is_trusted)
		refuse(conn, "the peer is not a trusted proxy");
	return end && end->is_trusted;
}

static const char *reason_of(ssize_t error)
{
	return error == -EMSGSIZE ? "its PROXY header is too long" :
				    "it does not begin with a valid PROXY header";
}

/* Take in bytes of the PROXY header. Return: the number of its bytes if it is complete; 0 if more
 * are needed; -EBADMSG, -EDQUOT, -EMSGSIZE, -ENOMEM. */
static ssize_t take_in_proxy_header(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	const struct eddy_app *app = conn->parked.conns->app;
	struct eddy_str pending = eddyi_wire_pending(&conn->wire), text = eddy_str(bytes, len);
	struct eddyi_proxied proxied;
	char joined[EDDYI_INBOX_SIZE];
	struct eddyi_ip ip;
	uint16_t port;
	ssize_t r;

	if (pending.len) {
		memcpy(joined, pending.ptr, pending.len);
		memcpy(joined + pending.len, bytes, len);
		text = eddy_str(joined, pending.len + len);
	}
	r = eddyi_proxy_header_parse(text, app->options.proxy_header_max, &proxied);
	if (r == 0)
		return eddyi_wire_keep(&conn->wire, eddy_str(bytes, len)) ? 0 : -ENOMEM;
	if (r < 0) {
		refuse(conn, reason_of(r));
		return r;
	}
	if (pending.len)
		eddyi_wire_consume(&conn->wire, pending.len);
	eddyi_end_introduce(conn->end, &app->trust, &proxied);
	conn->proxy_due = false;
	if (!conn->end->is_trusted && eddyi_ip_from_sockaddr(&conn->end->peer.addr, &ip, &port) &&
	    eddyi_parked_reseat(&conn->parked, &ip) < 0)
		return -EDQUOT;
	/* The header ends within these bytes, or it would have been complete before. */
	return r - (ssize_t)pending.len;
}

/* Begin the next request. Return: false on allocation failure. */
static bool begin(struct eddyi_conn *conn)
{
	const struct eddy_app *app = conn->parked.conns->app;
	struct eddy_req *req = eddyi_req_new(app, &conn->stream, sizeof(struct eddyi_http1));

	if (!req)
		return false;
	conn->req = eddyi_http1_of(req);
	eddyi_request_head_init(&conn->req->head, &req->head, &app->head_limits);
	conn->req->head.is_first = conn->fresh;
	conn->req->head.may_be_h2 = EDDYI_HTTP2 && conn->fresh && !app->options.no_http2;
	return true;
}

/* Whether the client has to begin with the preface of HTTP/2. */
static bool must_speak_h2(const struct eddyi_conn *conn)
{
	return EDDYI_TLS && EDDYI_HTTP2 && conn->wire.tls && conn->req->head.may_be_h2 &&
	       eddyi_tls_chose_http2(conn->wire.tls);
}

/* Feed the next head, and count the bytes it used. Return: as take_in(). */
static int feed(struct eddyi_conn *conn, struct eddy_str bytes, size_t *ret_used)
{
	int status;

	if (!conn->req && !begin(conn))
		return -ENOMEM;
	status = eddyi_request_head_feed(&conn->req->head, bytes.ptr, bytes.len, ret_used);
	/* The session rejects anything else by a GOAWAY. */
	if (status && must_speak_h2(conn))
		return EDDYI_HEAD_IS_H2;
	conn->req->req.refused = status >= 400 ? status : 0;
	/* Blank lines before a head don't begin a request. */
	if (!status && !conn->req->head.len) {
		eddyi_req_free(&conn->req->req);
		conn->req = NULL;
	}
	return status;
}

/* Take in plain bytes; those after the head are kept. Return: as take_in(). */
static int take_in_plain(void *arg, const char *bytes, size_t len)
{
	struct eddyi_conn *conn = arg;
	size_t used = 0;
	int status = feed(conn, eddy_str(bytes, len), &used);

	if (status >= 0 && !eddyi_wire_keep(&conn->wire, eddy_str(bytes + used, len - used)))
		return -ENOMEM;
	return status;
}

/* Like take_in(), with the pending bytes. */
static int take_in_pending(struct eddyi_conn *conn)
{
	struct eddy_str pending = eddyi_wire_pending(&conn->wire);
	size_t used = 0;
	int status;

	if (!pending.len)
		return 0;
	status = feed(conn, pending, &used);
	eddyi_wire_consume(&conn->wire, used);
	return status;
}

/* Like take_in(), with encrypted bytes that have already arrived. */
static int take_in_decrypted(struct eddyi_conn *conn)
{
	return EDDYI_TLS ? eddyi_tls_wire_drain(&conn->wire, take_in_plain, conn) : 0;
}

static int take_in_sealed(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	int r = EDDYI_TLS ? eddyi_tls_feed(conn->wire.tls, bytes, len) : 0;

	if (r < 0)
		return r;
	return EDDYI_TLS && is_shaking(conn) ? eddyi_tls_is_due(conn->wire.tls) :
					       take_in_decrypted(conn);
}

/* Take in bytes from the socket. Bytes after the head are kept.
 * Return: 0 if more are needed; the head's status; 1 if a step of the handshake is due; -errno. */
static int take_in(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	if (EDDYI_TLS && conn->wire.tls)
		return take_in_sealed(conn, bytes, len);
	return take_in_plain(conn, bytes, len);
}

/* Like take_in(), for a connection that may have to begin with a PROXY header. */
static int take_in_first(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	ssize_t used;

	if (!conn->proxy_due)
		return take_in(conn, bytes, len);
	used = take_in_proxy_header(conn, bytes, len);
	if (used <= 0 || (size_t)used == len)
		return used < 0 ? (int)used : 0;
	return take_in(conn, bytes + used, len - (size_t)used);
}

/* Speak HTTP/2, whose preface has begun. */
static void speak_h2(struct eddyi_conn *conn)
{
	struct eddyi_http1 *begun = conn->req;
	struct eddy_str bytes = eddy_str(begun->head.bytes, begun->head.len);
	bool speaks;

	conn->req = NULL;
	speaks = EDDYI_HTTP2 && eddyi_conn_speak_h2(conn, bytes);
	eddyi_req_free(&begun->req);
	if (!speaks)
		close_conn(conn);
}

/* ---- the minimum rate at which a client sends a body or receives a response ---- */

static struct eddyi_pace_rule rule_for(const struct eddyi_conn *conn, bool answers)
{
	const struct eddy_server_options *options = &conn->parked.conns->app->options;
	uint64_t rate = answers ? options->write_rate_min : options->body_rate_min;

	if (conn->req)
		rate = answers ? eddyi_req_write_rate_min(&conn->req->req) :
				 eddyi_req_body_rate_min(&conn->req->req);
	return (struct eddyi_pace_rule){ rate, options->rate_grace_ns };
}

/* Count from here: bytes acknowledged before the socket was full tell nothing about the client. */
static enum eddyi_verdict begin_answer(const struct eddyi_conn *conn, struct eddyi_pace *pace,
				       uint64_t acked)
{
	uint64_t now = eddy_loop_now(), full_ns = now - conn->wire.timeout.since_ns;

	pace->answer = (struct eddyi_flow){ .begun = true, .seen = acked };
	pace->since_ns = now;
	return full_ns < conn->wire.clocks->pace.duration_ns / 2 ? EDDYI_PACE_ENOUGH :
								   EDDYI_PACE_SLOW;
}

enum eddyi_verdict eddyi_conn_judge_pace(const struct eddyi_conn *conn, struct eddyi_pace *pace)
{
	struct eddyi_flow *flow = pace->waiting;
	struct eddyi_pace_rule rule = rule_for(conn, flow == &pace->answer);
	uint64_t waited = flow->waited_ns + eddy_loop_now() - pace->since_ns, acked;

	/* Too short a wait to judge. */
	if (!rule.rate_min || waited - flow->seen_ns < conn->wire.clocks->pace.duration_ns / 2)
		return EDDYI_PACE_ENOUGH;
	if (flow == &pace->body)
		return eddyi_pace_judge(
			flow, waited,
			eddyi_req_body_counted(&conn->req->req, &conn->req->body.body,
					       pace->arriving ? *pace->arriving : 0),
			&rule);
	/* A unix socket has no acknowledgements; its peer is on this machine. */
	if (!eddyi_wire_acked(&conn->wire, &acked))
		return EDDYI_PACE_ENOUGH;
	if (!flow->begun)
		return begin_answer(conn, pace, acked);
	return eddyi_pace_judge(flow, waited, acked, &rule);
}

static void cut_slow(struct eddyi_conn *conn, const struct eddyi_pace *pace)
{
	if (pace->waiting == &pace->answer) {
		eddyi_conn_count(conn->parked.conns, slow_writes);
		eddyi_parked_tell(&conn->parked, "its client reads the response too slowly");
	} else {
		eddyi_conn_count(conn->parked.conns, slow_bodies);
		eddyi_parked_tell(&conn->parked, "its request body arrives too slowly");
	}
	if (conn->beside)
		eddy_scope_cancel(conn->beside);
	else
		eddyi_exchange_expire(&conn->req->req);
}

static void look_at_pace(struct eddy_timeout *timeout)
{
	struct eddyi_conn_pace *watch = eddy_of(timeout, struct eddyi_conn_pace, pace.timeout);
	struct eddyi_pace *pace = &watch->pace;
	struct eddyi_conn *conn = watch->conn;
	struct eddyi_holders *holders = &conn->parked.conns->holders;
	enum eddyi_verdict verdict = pace->waiting ? eddyi_conn_judge_pace(conn, pace) :
						     EDDYI_PACE_ENOUGH;

	if (conn->parked.evicted)
		return;
	if (verdict == EDDYI_PACE_TOO_SLOW) {
		cut_slow(conn, pace);
		return;
	}
	eddyi_holders_move(holders, &conn->parked.seat,
			   verdict == EDDYI_PACE_SLOW ? EDDYI_STANDING_SLOW : EDDYI_STANDING_BUSY);
	if (pace->waiting)
		eddy_timeout_arm(timeout, &conn->wire.clocks->pace);
	if (verdict == EDDYI_PACE_SLOW)
		eddyi_conns_evictable(conn->parked.conns);
}

/* Watch the progress of the connection's task. `watch` is zeroed. */
static void watch_begin(struct eddyi_conn *conn, struct eddyi_conn_pace *watch)
{
	watch->pace.timeout.expire = look_at_pace;
	watch->conn = conn;
	conn->wire.pace = &watch->pace;
}

static void watch_end(struct eddyi_conn *conn)
{
	if (conn->wire.pace->timeout.node.next)
		eddy_timeout_disarm(&conn->wire.pace->timeout);
	conn->wire.pace = NULL;
	eddyi_holders_move(&conn->parked.conns->holders, &conn->parked.seat, EDDYI_STANDING_BUSY);
}

/* Whether the connection waits for its client, without progress for a while. */
static bool has_paused(const struct eddyi_conn *conn)
{
	const struct eddyi_pace *pace = conn->wire.pace;

	return pace && pace->waiting && rule_for(conn, pace->waiting == &pace->answer).rate_min &&
	       eddy_loop_now() - conn->wire.timeout.since_ns >= EDDYI_PAUSE_NS;
}

/* ---- the task ---- */

/* Close a connection of which nothing is in use any more. */
static void close_conn(struct eddyi_conn *conn)
{
	eddyi_wire_give_up(&conn->wire);
	if (conn->req) {
		eddyi_req_free(&conn->req->req);
		conn->req = NULL;
	}
	eddyi_parked_close(&conn->parked);
}

/* Send responses held back for a next request that has not arrived. */
static __attribute__((noinline)) int flush_held(struct eddyi_conn *conn)
{
	struct eddyi_conn_pace watch = { 0 };
	struct eddy_scope scope;
	int r;

	watch_begin(conn, &watch);
	eddy_scope_begin(&scope, NULL);
	conn->beside = &scope;
	r = eddyi_wire_flush(&conn->wire);
	conn->beside = NULL;
	eddy_scope_end(&scope);
	watch_end(conn);
	return r;
}

/* A lingering connection has been sent its response, so it may be closed to make room. */
static void linger(struct eddyi_conn *conn)
{
	struct eddy_scope scope;

	eddyi_holders_move(&conn->parked.conns->holders, &conn->parked.seat, EDDYI_STANDING_SLOW);
	eddy_scope_begin(&scope, NULL);
	conn->beside = &scope;
	eddyi_conns_evictable(conn->parked.conns);
	eddyi_wire_linger(&conn->wire);
	conn->beside = NULL;
	eddy_scope_end(&scope);
}

/* Parse the next head, if it has arrived. If not, send the responses held back; more bytes may
 * arrive meanwhile. Return: as take_in(); -errno. */
static int take_in_next(struct eddyi_conn *conn)
{
	int status;

	do {
		status = take_in_pending(conn);
		if (EDDYI_TLS && status == 0 && conn->wire.tls)
			status = take_in_decrypted(conn);
		if (status == 0 && (conn->wire.held || conn->wire.tls))
			status = flush_held(conn);
	} while (status == 0 && conn->wire.inbox);
	return status;
}

/* Task: handle requests until the next head has not yet arrived. */
static int serve(void *arg)
{
	struct eddyi_conn *conn = arg;
	struct eddyi_ws_served *socket = NULL;
	struct eddyi_listener *listener;
	enum eddyi_ending ending;
	int status = 0;

	eddyi_conn_count(conn->parked.conns, serving);
	do {
		eddyi_opened_begin();
		watch_begin(conn, &conn->req->watch);
		eddyi_presence_begin(conn);
		ending = eddyi_http1_exchange(conn->req);
		eddyi_presence_end(conn);
		watch_end(conn);
		conn->brief = conn->req->head.framing == EDDYI_BODY_NONE;
		if (EDDYI_WEBSOCKET && ending == EDDYI_ENDING_SOCKET) {
			socket = conn->req->req.socket;
			conn->req->req.socket = NULL;
		}
		listener = conn->req->listener;
		eddyi_req_free(&conn->req->req);
		conn->req = NULL;
		/* Files of the response are closed by now. */
		eddyi_opened_end();
		conn->fresh = false;
		if (ending == EDDYI_ENDING_KEEP)
			status = take_in_next(conn);
		if (ending == EDDYI_ENDING_KEEP && conn->wire.lost)
			ending = EDDYI_ENDING_LINGER;
	} while (ending == EDDYI_ENDING_KEEP && status > 0);
	eddyi_conn_count_by(conn->parked.conns, serving, -1);
	if (EDDYI_WEBSOCKET && socket) {
		eddyi_http1_serve_socket(conn, socket);
		return 0;
	}
	if (ending == EDDYI_ENDING_LISTEN) {
		eddyi_http1_park_listener(conn, listener);
		return 0;
	}
	if (ending == EDDYI_ENDING_KEEP && status == 0) {
		park(conn);
		return 0;
	}
	if (ending == EDDYI_ENDING_LINGER)
		linger(conn);
	else if (ending == EDDYI_ENDING_CUT)
		eddyi_wire_cut(&conn->wire);
	close_conn(conn);
	return 0;
}

/* Task: do a step of the handshake, and handle what follows it, without waiting for the client. */
static int shake(void *arg)
{
	struct eddyi_conn *conn = arg;
	struct eddyi_wire *wire = &conn->wire;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	conn->beside = &scope;
	r = EDDYI_TLS ? eddyi_tls_wire_shake(wire) : 0;
	conn->beside = NULL;
	eddy_scope_end(&scope);
	if (r != -EAGAIN)
		eddyi_wire_unguard(wire);
	if (r == 0) {
		r = take_in_decrypted(conn);
		if (r == EDDYI_HEAD_IS_H2) {
			speak_h2(conn);
			return 0;
		}
		if (r > 0)
			return serve(conn);
		if (r == 0)
			r = -EAGAIN;
	} else if (r == -EPROTO || r == -EBADMSG) {
		/* Leave time for the alert that says why. */
		linger(conn);
	}
	/* Don't park after a cancelled step: eddyi_conns_evict_idle() has run already. */
	if (r == -EAGAIN && !eddy_is_cancelled())
		park(conn);
	else
		close_conn(conn);
	return 0;
}

/* Start a task for a head, or for a step of a handshake, whose timeout continues. */
static void start_task(struct eddyi_conn *conn)
{
	bool shaking = is_shaking(conn);
	int r;

	if (!shaking)
		eddyi_wire_unguard(&conn->wire);
	conn->wire.ahead = eddy_op_is_started(&conn->parked.op) ? &conn->parked.op : NULL;
	eddyi_parked_leave(&conn->parked);
	if (EDDYI_TLS && shaking)
		r = eddy_scope_spawn(conn->parked.conns->tasks, "handshake", shake, conn);
	else
		r = eddy_scope_spawn(conn->parked.conns->tasks, "request", serve, conn);
	if (r < 0)
		close_conn(conn);
}

/* End a head that timed out: 408 if a part of it has arrived. */
static void give_up_head(struct eddyi_conn *conn)
{
	if (!conn->req || conn->parked.evicted) {
		close_conn(conn);
		return;
	}
	conn->req->req.refused = eddyi_request_head_refuse(
		&conn->req->head, 408, "the request head did not arrive in time");
	start_task(conn);
}

/* Read what has arrived: it may complete the head, and unread bytes would reset the connection on
 * close. The limit protects the loop from endless garbage. Return: as take_in(). */
static int take_in_rest(struct eddyi_conn *conn)
{
	const struct eddyi_head_limits *limits = &conn->parked.conns->app->head_limits;
	size_t most = limits->request_line_max + limits->header_block_max + REST_SIZE;
	char bytes[REST_SIZE];
	int status = 0;

	for (size_t taken = 0; status == 0 && taken < most;) {
		ssize_t r = eddyi_recv_now(conn->wire.fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (r <= 0)
			return 0;
		taken += (size_t)r;
		status = take_in_first(conn, bytes, (size_t)r);
	}
	return status;
}

/* Keep bytes received while a task owns the connection, for that task to find. */
static void received_ahead(struct eddyi_conn *conn, struct eddy_str bytes, int result, bool last)
{
	struct eddyi_wire *wire = &conn->wire;

	if (!eddyi_wire_keep(wire, bytes))
		wire->lost = conn->parked.last = true;
	if (!last)
		return;
	wire->ahead = NULL;
	if (wire->alone)
		eddy_event_set(wire->alone);
	if (result == 0 || result == -ECONNRESET)
		eddyi_presence_look(conn);
}

/* All buffers were in use; or the task that cancelled the receive found enough bytes before. */
static bool may_receive_again(int error)
{
	return error == -ENOBUFS || error == -EINTR || error == -ECANCELED;
}

/* Decide what a parked connection does after a receive: start a task, close, or park again. */
static void judge_received(struct eddyi_conn *conn, int result, int status, bool last)
{
	bool is_over = conn->parked.expired || conn->parked.evicted;

	/* The receive is being cancelled: parse what arrived before that. */
	if (status == 0 && is_over && !last)
		return;
	if (status == 0 && result != 0 && !is_shaking(conn) && is_over)
		status = take_in_rest(conn);
	if (result == 0 && conn->req)
		status = conn->req->req.refused = eddyi_request_head_end(&conn->req->head);
	if (status == EDDYI_HEAD_IS_H2)
		speak_h2(conn);
	else if (status > 0 && !(is_shaking(conn) && conn->parked.expired))
		start_task(conn);
	else if (is_over)
		give_up_head(conn);
	else if (status < 0 || result == 0 || (result < 0 && !may_receive_again(result)))
		close_conn(conn);
	else
		park(conn);
}

static void resume(struct eddyi_parked *parked, struct eddy_str bytes, int result, bool last)
{
	struct eddyi_conn *conn = conn_of(parked);
	int status = 0;

	if (parked->state == EDDYI_PARKED_BUSY) {
		received_ahead(conn, bytes, result, last);
		return;
	}
	if (result > 0)
		status = take_in_first(conn, bytes.ptr, bytes.len);
	judge_received(conn, result, status, last);
}

/* Whether a part of a request has arrived, or of a TLS record that may contain one. From then on
 * the timeout of the head runs: there might be no end of empty records. */
static bool is_arriving(const struct eddyi_conn *conn)
{
	const struct eddyi_wire *wire = &conn->wire;

	if (conn->req || (!conn->fresh && eddyi_is_limited_by(&wire->timeout, &wire->clocks->head)))
		return true;
	return EDDYI_TLS && wire->tls && !is_shaking(conn) && eddyi_tls_has_part(wire->tls);
}

static void wait_for_bytes(struct eddyi_conn *conn, bool arriving)
{
	struct eddyi_clocks *clocks = conn->wire.clocks;
	bool idle = !arriving && !conn->fresh;

	conn->parked.partial = arriving;
	/* Receive ahead only if no body is expected: its reader receives it without a copy. */
	eddyi_parked_wait(&conn->parked, idle ? EDDYI_STANDING_IDLE : EDDYI_STANDING_HEAD,
			  idle             ? &clocks->idle :
			  is_shaking(conn) ? &clocks->handshake :
					     &clocks->head,
			  conn->brief && !conn->wire.tls ? AHEAD_MAX : 0);
}

static void park(struct eddyi_conn *conn)
{
	bool arriving = is_arriving(conn);

	/* It may have been evicted just as its task had nothing left to cancel. */
	if (conn->parked.evicted ||
	    (!arriving && conn->parked.conns->stopping && !conn->parked.conns->patient))
		close_conn(conn);
	else
		wait_for_bytes(conn, arriving);
}

static void time_is_up(struct eddy_timeout *timeout)
{
	struct eddyi_conn *conn = eddy_of(timeout, struct eddyi_conn, wire.timeout);

	if (conn->parked.state == EDDYI_PARKED_IDLE)
		eddyi_parked_expire(&conn->parked);
	else if (timeout->queue == &conn->wire.clocks->write &&
		 !eddyi_wire_has_stalled(&conn->wire))
		return;
	else if (conn->beside)
		eddy_scope_cancel(conn->beside);
	else if (conn->req)
		eddyi_exchange_expire(&conn->req->req);
}

static void evict(struct eddyi_parked *parked)
{
	struct eddyi_conn *conn = conn_of(parked);

	if (conn->beside)
		eddy_scope_cancel(conn->beside);
	else if (conn->req)
		eddyi_exchange_cut(&conn->req->req);
}

static bool is_waiting(const struct eddyi_parked *parked)
{
	return has_paused(conn_of(parked));
}

static void describe(const struct eddyi_parked *parked, char text[EDDYI_PARKED_TEXT_SIZE])
{
	snprintf(text, EDDYI_PARKED_TEXT_SIZE, "a connection to %s", conn_of(parked)->stream.bound);
}

void eddyi_conn_free(struct eddyi_parked *parked)
{
	struct eddyi_conn *conn = conn_of(parked);

	free(conn->wire.inbox);
	free(conn->end);
	if (EDDYI_TLS)
		eddyi_tls_free(conn->wire.tls);
	free(conn);
}

static const struct eddyi_parked_verbs verbs = {
	.resume = resume,
	.evict = evict,
	.is_waiting = is_waiting,
	.describe = describe,
	.free = eddyi_conn_free,
};

/* Task. */
static int linger_and_close(void *arg)
{
	struct eddyi_conn *conn = arg;

	if (!conn->parked.evicted)
		linger(conn);
	close_conn(conn);
	return 0;
}

void eddyi_conn_end_h2(struct eddyi_conn *conn, bool lingers)
{
	struct eddyi_parked *parked = &conn->parked;

	parked->verbs = &verbs;
	conn->wire.timeout.expire = time_is_up;
	eddy_timeout_disarm(&conn->wire.timeout);
	eddyi_parked_leave(parked);
	conn->wire.ahead = eddy_op_is_started(&parked->op) ? &parked->op : NULL;
	if (!lingers ||
	    eddy_scope_spawn(parked->conns->tasks, "connection", linger_and_close, conn) < 0)
		close_conn(conn);
}

/* Return: NULL on allocation failure. */
static struct eddyi_conn *make(struct eddyi_conns *conns, int fd,
			       const struct eddyi_address *address)
{
	struct eddyi_conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->parked.verbs = &verbs;
	conn->parked.timeout = &conn->wire.timeout;
	conn->fresh = true;
	conn->wire.fd = fd;
	conn->wire.clocks = conns->clocks;
	conn->wire.timeout.expire = time_is_up;
	conn->stream.bound = address->text;
	return conn;
}

/* Become a member of the set, before TLS takes memory. Return: 0, -EDQUOT, -ENOMEM. */
static int join(struct eddyi_conn *conn, struct eddyi_conns *conns,
		const struct eddyi_address *address)
{
	int r = eddyi_parked_begin(&conn->parked, conns, conn->wire.fd);

	if (r < 0 || !EDDYI_TLS || !conns->app->tls || address->plain)
		return r;
	conn->wire.tls = eddyi_tls_new(conns->app->tls);
	if (conn->wire.tls)
		return 0;
	eddyi_parked_end(&conn->parked);
	return -ENOMEM;
}

void eddyi_conn_new(struct eddyi_conns *conns, int fd, const struct eddyi_address *address)
{
	struct eddyi_conn *conn = make(conns, fd, address);
	int r = conn ? join(conn, conns, address) : -ENOMEM;

	eddyi_conn_count(conns, accepted);
	if (r < 0) {
		if (r == -EDQUOT)
			eddyi_conn_count(conns, closed);
		else
			eddyi_conn_count(conns, refused);
		if (conn)
			eddyi_conn_free(&conn->parked);
		eddyi_close_now(fd);
		return;
	}
	eddyi_http1_init(conn);
	if (address->proxy_protocol && !await_proxy_header(conn)) {
		close_conn(conn);
		return;
	}
	/* Also during shutdown: a request that the client has already sent is answered. */
	wait_for_bytes(conn, false);
}
