#include "conn_pace.h"

#include "exchange/req.h"

#include <eddy/loop.h>
#include <eddy/scope.h>

/* Without progress for this long, a connection has paused. */
#define PAUSE_NS (100 * EDDY_MS)

static struct eddyi_pace_rule rule_for(const struct eddyi_conn *conn, bool answers)
{
	const struct eddy_server_options *options = &conn->parked.conns->app->options;
	uint64_t rate = answers ? options->write_rate_min : options->body_rate_min;

	if (conn->req)
		rate = answers ? eddyi_req_write_rate_min(&conn->req->req) :
				 eddyi_req_body_rate_min(&conn->req->req);
	return (struct eddyi_pace_rule){ rate, options->rate_grace_ns };
}

/* Count the bytes of the body that have arrived, without the framing of parts and chunks. */
static uint64_t body_bytes(const struct eddyi_conn *conn, const struct eddyi_pace *pace)
{
	const struct eddyi_body *body = &conn->req->body.body;
	uint64_t bytes = body->took + (pace->arriving ? *pace->arriving : 0);

	/* Don't subtract framing of a decoded body: it is counted in decoded bytes. */
	if (conn->req->req.decoded || body->trimmings > bytes)
		return bytes;
	return bytes - body->trimmings;
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

static enum eddyi_verdict judge(const struct eddyi_conn *conn, struct eddyi_pace *pace)
{
	struct eddyi_flow *flow = pace->waiting;
	struct eddyi_pace_rule rule = rule_for(conn, flow == &pace->answer);
	uint64_t waited = flow->waited_ns + eddy_loop_now() - pace->since_ns, acked;

	/* Too short a wait to judge. */
	if (!rule.rate_min || waited - flow->seen_ns < conn->wire.clocks->pace.duration_ns / 2)
		return EDDYI_PACE_ENOUGH;
	if (flow == &pace->body)
		return eddyi_pace_judge(flow, waited, body_bytes(conn, pace), &rule);
	/* A unix socket has no acknowledgements; its peer is on this machine. */
	if (!eddyi_wire_acked(&conn->wire, &acked))
		return EDDYI_PACE_ENOUGH;
	if (!flow->begun)
		return begin_answer(conn, pace, acked);
	return eddyi_pace_judge(flow, waited, acked, &rule);
}

static void cut(struct eddyi_conn *conn, const struct eddyi_pace *pace)
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

static void look(struct eddy_timeout *timeout)
{
	struct eddyi_pace *pace = eddy_of(timeout, struct eddyi_pace, timeout);
	struct eddyi_conn *conn = eddy_of(pace->wire, struct eddyi_conn, wire);
	struct eddyi_holders *holders = &conn->parked.conns->holders;
	enum eddyi_verdict verdict = pace->waiting ? judge(conn, pace) : EDDYI_PACE_ENOUGH;

	if (conn->parked.evicted)
		return;
	if (verdict == EDDYI_PACE_TOO_SLOW) {
		cut(conn, pace);
		return;
	}
	eddyi_holders_move(holders, &conn->parked.seat,
			   verdict == EDDYI_PACE_SLOW ? EDDYI_STANDING_SLOW : EDDYI_STANDING_BUSY);
	if (pace->waiting)
		eddy_timeout_arm(timeout, &conn->wire.clocks->pace);
	if (verdict == EDDYI_PACE_SLOW)
		conn->parked.conns->evictable(conn->parked.conns);
}

void eddyi_conn_pace_begin(struct eddyi_conn *conn, struct eddyi_pace *pace)
{
	pace->timeout.expire = look;
	pace->wire = &conn->wire;
	conn->wire.pace = pace;
}

void eddyi_conn_pace_end(struct eddyi_conn *conn)
{
	if (conn->wire.pace->timeout.node.next)
		eddy_timeout_disarm(&conn->wire.pace->timeout);
	conn->wire.pace = NULL;
	eddyi_holders_move(&conn->parked.conns->holders, &conn->parked.seat, EDDYI_STANDING_BUSY);
}

bool eddyi_conn_has_paused(const struct eddyi_conn *conn)
{
	const struct eddyi_pace *pace = conn->wire.pace;

	return pace && pace->waiting && rule_for(conn, pace->waiting == &pace->answer).rate_min &&
	       eddy_loop_now() - conn->wire.timeout.since_ns >= PAUSE_NS;
}
