#include "conn.h"

#include "conn_intake.h"
#include "conn_pace.h"
#include "conn_proxy.h"
#include "presence.h"
#include "stream.h"
#include "wire/tls_wire.h"

#include <eddy/internal/debug.h>
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define REST_SIZE (8 * EDDY_KIB)
/* Fits into the inbox together with the rest of a buffer. */
#define AHEAD_MAX (EDDYI_INBOX_SIZE / 2)

/* Wait for bytes of a request. During a shutdown that is not patient, close idle connections. */
static void park(struct eddyi_conn *conn);

static struct eddyi_holders *holders_of(struct eddyi_conn *conn)
{
	return &conn->conns->holders;
}

static void closed(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_conn *conn = eddy_of(op, struct eddyi_conn, op);
	struct eddyi_conns *conns = conn->conns;

	(void)result;
	(void)flags;
	eddyi_conn_unseat(conn);
	free(conn->wire.inbox);
	free(conn->end);
	if (EDDYI_TLS)
		eddyi_tls_free(conn->wire.tls);
	conns->leaving -= conn->evicted;
	free(conn);
	conns->count--;
	eddyi_conn_count(conns, closed);
	conns->gone(conns);
}

static void start_close(struct eddyi_conn *conn)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&conn->op, closed);

	io_uring_prep_close(sqe, conn->wire.fd);
	eddy_op_start(&conn->op, sqe);
}

/* Close a connection of which nothing is in use any more. */
static void close_conn(struct eddyi_conn *conn)
{
	conn->state = EDDYI_CONN_CLOSING;
	eddyi_holders_move(holders_of(conn), &conn->seat, EDDYI_STANDING_BUSY);
	eddyi_wire_unguard(&conn->wire);
	eddyi_wire_give_up(&conn->wire);
	if (conn->req) {
		eddyi_req_free(&conn->req->req);
		conn->req = NULL;
	}
	/* An armed receive would keep the socket open for the peer. */
	if (eddy_op_is_started(&conn->op))
		eddy_op_cancel(&conn->op);
	else
		start_close(conn);
}

/* Send responses held back for a next request that has not arrived. */
static __attribute__((noinline)) int flush_held(struct eddyi_conn *conn)
{
	struct eddyi_pace pace = { 0 };
	struct eddy_scope scope;
	int r;

	eddyi_conn_pace_begin(conn, &pace);
	eddy_scope_begin(&scope, NULL);
	conn->beside = &scope;
	r = eddyi_wire_flush(&conn->wire);
	conn->beside = NULL;
	eddy_scope_end(&scope);
	eddyi_conn_pace_end(conn);
	return r;
}

/* A lingering connection has been sent its response, so it may be closed to make room. */
static void linger(struct eddyi_conn *conn)
{
	struct eddy_scope scope;

	eddyi_holders_move(holders_of(conn), &conn->seat, EDDYI_STANDING_SLOW);
	eddy_scope_begin(&scope, NULL);
	conn->beside = &scope;
	conn->conns->evictable(conn->conns);
	eddyi_wire_linger(&conn->wire);
	conn->beside = NULL;
	eddy_scope_end(&scope);
}

/* Parse the next head, if it has arrived. If not, send the responses held back; more bytes may
 * arrive meanwhile. Return: as eddyi_conn_take_in(); -errno. */
static int take_in_next(struct eddyi_conn *conn)
{
	int status;

	do {
		status = eddyi_conn_take_in_pending(conn);
		if (EDDYI_TLS && status == 0 && conn->wire.tls)
			status = eddyi_conn_take_in_decrypted(conn);
		if (status == 0 && (conn->wire.held || conn->wire.tls))
			status = flush_held(conn);
	} while (status == 0 && conn->wire.inbox);
	return status;
}

/* Task: handle requests until the next head has not yet arrived. */
static int serve(void *arg)
{
	struct eddyi_conn *conn = arg;
	enum eddyi_ending ending;
	int status = 0;

	eddyi_conn_count(conn->conns, serving);
	do {
		eddyi_opened_begin();
		eddyi_conn_pace_begin(conn, &conn->req->pace);
		eddyi_presence_begin(conn);
		ending = eddyi_http1_exchange(conn->req);
		eddyi_presence_end(conn);
		eddyi_conn_pace_end(conn);
		conn->brief = conn->req->head.framing == EDDYI_BODY_NONE;
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
	eddyi_conn_count_by(conn->conns, serving, -1);
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
		r = eddyi_conn_take_in_decrypted(conn);
		if (r > 0)
			return serve(conn);
		if (r == 0)
			r = -EAGAIN;
	} else if (r == -EPROTO || r == -EBADMSG) {
		/* Leave time for the alert that says why. */
		linger(conn);
	}
	/* Don't park after a cancelled step: eddyi_conns_evict_parked() has run already. */
	if (r == -EAGAIN && !eddy_is_cancelled())
		park(conn);
	else
		close_conn(conn);
	return 0;
}

/* Start a task for a head, or for a step of a handshake, whose timeout continues. */
static void start_task(struct eddyi_conn *conn)
{
	bool shaking = eddyi_conn_is_shaking(conn);
	int r;

	if (!shaking)
		eddyi_wire_unguard(&conn->wire);
	/* A head that completes just as its timeout expires counts as arrived. */
	conn->expired = false;
	conn->state = EDDYI_CONN_BUSY;
	conn->wire.ahead = eddy_op_is_started(&conn->op) ? &conn->op : NULL;
	eddyi_holders_move(holders_of(conn), &conn->seat, EDDYI_STANDING_BUSY);
	if (EDDYI_TLS && shaking)
		r = eddy_scope_spawn(conn->conns->tasks, "handshake", shake, conn);
	else
		r = eddy_scope_spawn(conn->conns->tasks, "request", serve, conn);
	if (r < 0)
		close_conn(conn);
}

/* End a head that timed out: 408 if a part of it has arrived. */
static void give_up_head(struct eddyi_conn *conn)
{
	if (!conn->req || conn->evicted) {
		close_conn(conn);
		return;
	}
	conn->req->req.refused = eddyi_request_head_refuse(
		&conn->req->head, 408, "the request head did not arrive in time");
	start_task(conn);
}

/* Read what has arrived: it may complete the head, and unread bytes would reset the connection on
 * close. The limit protects the loop from endless garbage. Return: as eddyi_conn_take_in(). */
static int take_in_rest(struct eddyi_conn *conn)
{
	const struct eddyi_head_limits *limits = &conn->conns->app->head_limits;
	size_t most = limits->request_line_max + limits->header_block_max + REST_SIZE;
	char bytes[REST_SIZE];
	int status = 0;

	for (size_t taken = 0; status == 0 && taken < most;) {
		ssize_t r = recv(conn->wire.fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (r <= 0)
			return 0;
		taken += (size_t)r;
		status = eddyi_conn_take_in_first(conn, bytes, (size_t)r);
	}
	return status;
}

/* Keep bytes received while a task owns the connection, for that task to find. */
static void received_ahead(struct eddyi_conn *conn, struct eddy_str bytes, int result, bool last)
{
	struct eddyi_wire *wire = &conn->wire;

	if (!eddyi_wire_keep(wire, bytes))
		wire->lost = wire->last = true;
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
	bool is_over = conn->expired || conn->evicted;

	/* The receive is being cancelled: parse what arrived before that. */
	if (status == 0 && is_over && !last)
		return;
	if (status == 0 && result != 0 && !eddyi_conn_is_shaking(conn) && is_over)
		status = take_in_rest(conn);
	if (result == 0 && conn->req)
		status = conn->req->req.refused = eddyi_request_head_end(&conn->req->head);
	if (status > 0 && !(eddyi_conn_is_shaking(conn) && conn->expired))
		start_task(conn);
	else if (is_over)
		give_up_head(conn);
	else if (status < 0 || result == 0 || (result < 0 && !may_receive_again(result)))
		close_conn(conn);
	else
		park(conn);
}

typedef int take_in_fn(struct eddyi_conn *conn, const char *bytes, size_t len);

static inline void receive(struct eddy_op *op, int result, unsigned flags, take_in_fn *take_in)
{
	struct eddyi_conn *conn = eddy_of(op, struct eddyi_conn, op);
	struct eddy_str bytes = eddy_str(eddy_buffers_of(NULL, flags), result > 0 ? result : 0);
	bool last = !(flags & IORING_CQE_F_MORE);
	int status = 0;

	if (conn->state == EDDYI_CONN_BUSY)
		received_ahead(conn, bytes, result, last);
	else if (conn->state == EDDYI_CONN_PARKED && result > 0)
		status = take_in(conn, bytes.ptr, bytes.len);
	eddy_buffers_give_back(NULL, flags);
	if (conn->state == EDDYI_CONN_PARKED)
		judge_received(conn, result, status, last);
	else if (conn->state == EDDYI_CONN_CLOSING && last)
		start_close(conn);
}

static void received(struct eddy_op *op, int result, unsigned flags)
{
	receive(op, result, flags, eddyi_conn_take_in);
}

static void received_first(struct eddy_op *op, int result, unsigned flags)
{
	receive(op, result, flags, eddyi_conn_take_in_first);
}

static bool is_limited_by(const struct eddyi_wire *wire, const struct eddy_timeout_queue *queue)
{
	return wire->timeout.node.next && wire->timeout.queue == queue;
}

/* Whether a part of a request has arrived, or of a TLS record that may contain one. From then on
 * the timeout of the head runs: there might be no end of empty records. */
static bool is_arriving(const struct eddyi_conn *conn)
{
	const struct eddyi_wire *wire = &conn->wire;

	if (conn->req || (!conn->fresh && is_limited_by(wire, &wire->clocks->head)))
		return true;
	return EDDYI_TLS && wire->tls && !eddyi_conn_is_shaking(conn) &&
	       eddyi_tls_has_part(wire->tls);
}

/* Receive ahead only if no body is expected: the reader of a body receives it without a copy. */
static void arm(struct eddyi_conn *conn)
{
	struct io_uring_sqe *sqe =
		eddy_op_begin(&conn->op, conn->proxy_due ? received_first : received);

	if (conn->brief && !conn->wire.tls)
		eddy_buffers_prep_recv_some(NULL, sqe, conn->wire.fd, AHEAD_MAX);
	else
		eddy_buffers_prep_recv(NULL, sqe, conn->wire.fd);
	eddy_op_start(&conn->op, sqe);
}

static void wait_for_bytes(struct eddyi_conn *conn, bool arriving)
{
	struct eddyi_conns *conns = conn->conns;
	struct eddyi_wire *wire = &conn->wire;
	bool idle = !arriving && !conn->fresh;
	enum eddyi_standing standing = idle ? EDDYI_STANDING_IDLE : EDDYI_STANDING_HEAD;
	struct eddy_timeout_queue *clock = idle                        ? &wire->clocks->idle :
					   eddyi_conn_is_shaking(conn) ? &wire->clocks->handshake :
									 &wire->clocks->head;

	if (!is_limited_by(wire, clock))
		eddyi_wire_guard(wire, clock);
	conn->state = EDDYI_CONN_PARKED;
	conn->arriving = arriving;
	if (!eddy_op_is_started(&conn->op))
		arm(conn);
	if (conn->seat.standing == standing || conn->evicted)
		return;
	eddyi_holders_move(holders_of(conn), &conn->seat, standing);
	conns->evictable(conns);
}

static void park(struct eddyi_conn *conn)
{
	bool arriving = is_arriving(conn);

	if (!arriving && conn->conns->stopping && !conn->conns->patient)
		close_conn(conn);
	else
		wait_for_bytes(conn, arriving);
}

static void time_is_up(struct eddy_timeout *timeout)
{
	struct eddyi_conn *conn = eddy_of(timeout, struct eddyi_conn, wire.timeout);

	if (conn->state == EDDYI_CONN_PARKED) {
		conn->expired = true;
		eddy_op_cancel(&conn->op);
	} else if (timeout->queue == &conn->wire.clocks->write &&
		   !eddyi_wire_has_stalled(&conn->wire)) {
		return;
	} else if (conn->beside) {
		eddy_scope_cancel(conn->beside);
	} else if (conn->req) {
		eddyi_exchange_expire(&conn->req->req);
	}
}

void eddyi_conn_new(struct eddyi_conns *conns, int fd, const struct eddyi_address *address)
{
	struct eddyi_conn *conn = calloc(1, sizeof(*conn));
	int r = conn ? 0 : -ENOMEM;

	eddyi_conn_count(conns, accepted);
	if (conn) {
		conn->conns = conns;
		conn->fresh = true;
		conn->wire.fd = fd;
		conn->stream.bound = address->text;
		conn->wire.clocks = conns->clocks;
		conn->wire.timeout.expire = time_is_up;
		conn->wire.last = conns->stopping;
		r = eddyi_conn_seat(conn);
	}
	if (EDDYI_TLS && r == 0 && conns->app->tls && !address->plain) {
		conn->wire.tls = eddyi_tls_new(conns->app->tls);
		if (!conn->wire.tls) {
			eddyi_conn_unseat(conn);
			r = -ENOMEM;
		}
	}
	if (r < 0) {
		if (r == -EDQUOT)
			eddyi_conn_count(conns, closed);
		else
			eddyi_conn_count(conns, refused);
		free(conn);
		close(fd);
		return;
	}
	eddyi_http1_init(conn);
	conns->count++;
	if (address->proxy_protocol && !eddyi_conn_await_proxy_header(conn)) {
		close_conn(conn);
		return;
	}
	/* Also during shutdown: a request that the client has already sent is answered. */
	wait_for_bytes(conn, false);
}
