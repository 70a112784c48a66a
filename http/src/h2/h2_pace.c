/* Clients that send a body, or take a response, more slowly than they may. */
#include "h2.h"

#include "exchange/req.h"

#include <eddy/loop.h>

static struct eddyi_conns *conns_of(const struct eddyi_h2 *h2)
{
	return h2->conn->parked.conns;
}

/* A connection is slow if the socket is, or all its requests are. */
static void stand(struct eddyi_h2 *h2)
{
	struct eddyi_parked *parked = &h2->conn->parked;
	bool slow = h2->is_slow || (h2->tasks && h2->slow_streams == h2->tasks);

	if (parked->evicted || parked->state != EDDYI_PARKED_BUSY)
		return;
	eddyi_holders_move(&conns_of(h2)->holders, &parked->seat,
			   slow ? EDDYI_STANDING_SLOW : EDDYI_STANDING_BUSY);
	if (slow)
		eddyi_conns_evictable(conns_of(h2));
}

/* ---- streams ---- */

static void set_slow(struct eddyi_h2_stream *stream, bool slow)
{
	stream->h2->slow_streams += slow;
	stream->h2->slow_streams -= stream->is_slow;
	stream->is_slow = slow;
	stand(stream->h2);
}

/* While the client keeps the window open, the socket or others of its streams hold it up. */
static enum eddyi_verdict judge_answer(struct eddyi_h2_stream *stream, uint64_t waited,
				       const struct eddyi_pace_rule *rule)
{
	struct eddyi_pace *pace = &stream->pace;

	if (pace->answer.begun && eddyi_h2_stream_is_shut(stream))
		return eddyi_pace_judge(&pace->answer, waited, stream->sent, rule);
	pace->answer = (struct eddyi_flow){ .begun = true, .seen = stream->sent };
	pace->since_ns = eddy_loop_now();
	return EDDYI_PACE_ENOUGH;
}

static enum eddyi_verdict judge(struct eddyi_h2_stream *stream)
{
	const struct eddy_req *req = &stream->req;
	struct eddyi_flow *flow = stream->pace.waiting;
	bool answers = flow == &stream->pace.answer;
	struct eddyi_pace_rule rule = { answers ? eddyi_req_write_rate_min(req) :
						  eddyi_req_body_rate_min(req),
					req->app->options.rate_grace_ns };
	uint64_t waited = flow->waited_ns + eddy_loop_now() - stream->pace.since_ns;

	/* Too short a wait to judge. */
	if (!rule.rate_min ||
	    waited - flow->seen_ns < stream->h2->conn->wire.clocks->pace.duration_ns / 2)
		return EDDYI_PACE_ENOUGH;
	if (answers)
		return judge_answer(stream, waited, &rule);
	return eddyi_pace_judge(
		flow, waited, eddyi_req_body_counted(req, &stream->body, stream->inbox.len), &rule);
}

static void look_at_stream(struct eddy_timeout *timeout)
{
	struct eddyi_pace *pace = eddy_of(timeout, struct eddyi_pace, timeout);
	struct eddyi_h2_stream *stream = eddy_of(pace, struct eddyi_h2_stream, pace);
	enum eddyi_verdict verdict = pace->waiting ? judge(stream) : EDDYI_PACE_ENOUGH;

	set_slow(stream, verdict == EDDYI_PACE_SLOW);
	if (verdict != EDDYI_PACE_TOO_SLOW) {
		if (pace->waiting)
			eddy_timeout_arm(timeout, &stream->h2->conn->wire.clocks->pace);
		return;
	}
	if (pace->waiting == &pace->answer)
		eddyi_conn_count(conns_of(stream->h2), slow_writes);
	else
		eddyi_conn_count(conns_of(stream->h2), slow_bodies);
	eddyi_exchange_expire(&stream->req);
}

void eddyi_h2_pace_begin_stream(struct eddyi_h2_stream *stream)
{
	stream->pace.timeout.expire = look_at_stream;
}

void eddyi_h2_pace_end_stream(struct eddyi_h2_stream *stream)
{
	if (stream->pace.timeout.node.next)
		eddy_timeout_disarm(&stream->pace.timeout);
	set_slow(stream, false);
}

bool eddyi_h2_pace_has_paused(const struct eddyi_h2 *h2)
{
	const struct eddy_node *node = h2->streams.next;

	for (; node != &h2->streams; node = node->next) {
		const struct eddyi_h2_stream *stream = eddy_of(node, struct eddyi_h2_stream, node);

		if (!stream->pace.waiting ||
		    eddy_loop_now() - stream->pace.since_ns < EDDYI_PAUSE_NS)
			return false;
	}
	return h2->tasks;
}

/* ---- the connection ---- */

static void look_at_conn(struct eddy_timeout *timeout)
{
	struct eddyi_pace *pace = eddy_of(timeout, struct eddyi_pace, timeout);
	struct eddyi_h2 *h2 = eddy_of(pace, struct eddyi_h2, pace);
	enum eddyi_verdict verdict = pace->waiting ? eddyi_conn_judge_pace(h2->conn, pace) :
						     EDDYI_PACE_ENOUGH;

	h2->is_slow = verdict == EDDYI_PACE_SLOW;
	stand(h2);
	if (verdict == EDDYI_PACE_TOO_SLOW) {
		eddyi_conn_count(conns_of(h2), slow_writes);
		eddyi_parked_tell(&h2->conn->parked, "its client reads the response too slowly");
		eddyi_h2_abort(h2);
		eddyi_h2_settle(h2);
	} else if (pace->waiting) {
		eddy_timeout_arm(timeout, &h2->conn->wire.clocks->pace);
	}
}

void eddyi_h2_pace_begin(struct eddyi_h2 *h2)
{
	h2->pace.timeout.expire = look_at_conn;
	h2->conn->wire.pace = &h2->pace;
}

void eddyi_h2_pace_end(struct eddyi_h2 *h2)
{
	if (h2->pace.timeout.node.next)
		eddy_timeout_disarm(&h2->pace.timeout);
	h2->conn->wire.pace = NULL;
}
