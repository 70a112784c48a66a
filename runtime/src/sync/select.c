/* Invariants:
 * 1. A select is claimed once: by the first case that becomes ready, or by its cancellation. From
 *    then on none of its cases is in a queue and none of its timers is armed, so only started ops
 *    can still become ready.
 * 2. `ops` counts the ops that are started and not completed. eddy_select() returns when it is 0.
 * 3. An op's result is discarded only if it is -ECANCELED or -EINTR and came after the claim: then
 *    it answers our cancel. An op interrupted before the claim is repeated.
 * 4. While `peeking`, no case is in a queue: a case was ready, and the ops get one turn to become
 *    ready too. After that, a ready case is taken, or all cases enter their queues.
 */
#include <eddy/select.h>

#include "core/own.h"
#include "queue.h"
#include "core/op.h"
#include "base/written.h"

#include <errno.h>
#include <string.h>

enum kind {
	CASE_NEVER,
	CASE_RECV,
	CASE_SEND,
	CASE_EVENT,
	CASE_TIME,
	CASE_OP,
};

struct eddyi_select {
	struct eddyi_waiter waiter;
	struct eddy_timer peeking;
	struct eddy_case *cases;
	size_t count;
	size_t ops;
	bool claimed;
	bool withdrawing; /* the task waits for the last ops */
};

struct eddy_case eddy_case_chan_recv(struct eddy_chan *chan, void *ret_item)
{
	return (struct eddy_case){ .kind = CASE_RECV, .on = chan, .entry.item = ret_item };
}

struct eddy_case eddy_case_chan_send(struct eddy_chan *chan, const void *item)
{
	return (struct eddy_case){
		.kind = CASE_SEND,
		.on = chan,
		.entry.item = (void *)(uintptr_t)item,
	};
}

struct eddy_case eddy_case_event(struct eddy_event *event)
{
	return (struct eddy_case){ .kind = CASE_EVENT, .on = event };
}

struct eddy_case eddy_case_at(uint64_t at_ns)
{
	return (struct eddy_case){ .kind = CASE_TIME, .timer.at_ns = at_ns };
}

struct eddy_case eddy_case_after(uint64_t duration_ns)
{
	return eddy_case_at(eddyi_time_after(eddy_now(), duration_ns));
}

struct eddy_case eddy_case_op(void)
{
	return (struct eddy_case){ .kind = CASE_OP };
}

static void claim(struct eddyi_select *select, int result)
{
	select->claimed = true;
	for (size_t i = 0; i < select->count; i++) {
		struct eddy_case *one = &select->cases[i];

		if (one->entry.node.next)
			eddy_list_remove(&one->entry.node);
		if (one->kind == CASE_TIME)
			eddy_timer_disarm(&one->timer);
	}
	eddy_timer_disarm(&select->peeking);
	eddyi_wake(&select->waiter, result);
}

static void set_ready(struct eddy_case *one, int result)
{
	one->ready = true;
	one->result = result;
}

static void entry_served(struct eddyi_entry *entry, int result)
{
	struct eddy_case *one = eddy_of(entry, struct eddy_case, entry);

	set_ready(one, result);
	claim(one->select, 0);
}

static void time_is_up(struct eddy_timer *timer)
{
	struct eddy_case *one = eddy_of(timer, struct eddy_case, timer);

	set_ready(one, 0);
	claim(one->select, 0);
}

static void cancel_select(struct eddyi_waiter *waiter)
{
	claim(eddy_of(waiter, struct eddyi_select, waiter), -ECANCELED);
}

static void op_done(struct eddy_op *op, int result, unsigned flags);

static void start_op(struct eddy_case *one)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&one->op, op_done);

	*sqe = one->sqe;
	one->op.restarts = true;
	eddy_op_start(&one->op, sqe);
	one->select->ops++;
}

/* Whether this is the op's outcome, and not only the answer to its cancel. */
static bool is_result(const struct eddyi_select *select, int result)
{
	return !select->claimed || (result != -ECANCELED && result != -EINTR);
}

static void op_done(struct eddy_op *op, int result, unsigned flags)
{
	struct eddy_case *one = eddy_of(op, struct eddy_case, op);
	struct eddyi_select *select = one->select;

	if (flags & IORING_CQE_F_MORE)
		eddyi_assert(op->opcode == IORING_OP_SEND_ZC || op->opcode == IORING_OP_SENDMSG_ZC,
			     "a multishot op can't be used in a select");
	else
		select->ops--;
	/* Repeated, like every awaited call. */
	if (result == -EINTR && !select->claimed && !(flags & IORING_CQE_F_MORE) &&
	    eddyi_op_may_restart(&one->sqe)) {
		start_op(one);
		return;
	}
	/* A zero-copy send's result comes before the notification that ends it. */
	if (!(flags & IORING_CQE_F_NOTIF) && is_result(select, result)) {
		set_ready(one, result);
		if (op->opcode == IORING_OP_RECV || op->opcode == IORING_OP_READ)
			eddyi_written((void *)(uintptr_t)one->sqe.addr, result);
	}
	if (flags & IORING_CQE_F_MORE)
		return;
	if (!select->claimed)
		claim(select, 0);
	else if (select->withdrawing && !select->ops)
		eddyi_wake(&select->waiter, 0);
}

static void start_ops(struct eddyi_select *select)
{
	for (size_t i = 0; i < select->count; i++)
		if (select->cases[i].kind == CASE_OP)
			start_op(&select->cases[i]);
}

/* Cancel the remaining ops and wait until they have completed. */
static void withdraw_ops(struct eddyi_select *select)
{
	for (size_t i = 0; i < select->count; i++)
		if (select->cases[i].kind == CASE_OP)
			eddy_op_cancel(&select->cases[i].op);
	select->withdrawing = true;
	select->waiter.cancel = NULL;
	select->waiter.what = "select withdrawal";
	while (select->ops)
		eddyi_wait(&select->waiter);
}

static bool is_ready(const struct eddy_case *one)
{
	const struct eddy_chan *chan = one->on;
	const struct eddy_event *event = one->on;

	switch ((enum kind)one->kind) {
	case CASE_RECV:
		return chan->count || chan->closed || !eddy_list_is_empty(&chan->senders);
	case CASE_SEND:
		return chan->count < chan->capacity || chan->closed ||
		       !eddy_list_is_empty(&chan->receivers);
	case CASE_EVENT:
		return event->is_set;
	case CASE_TIME:
		return one->timer.at_ns <= eddy_now();
	case CASE_NEVER:
	case CASE_OP:
		break;
	}
	return false;
}

/* Search from `start` on, wrapping around. Return: NULL if no case is ready. */
static struct eddy_case *find_ready(const struct eddyi_select *select, size_t start)
{
	for (size_t i = 0; i < select->count; i++) {
		size_t at = start + i < select->count ? start + i : start + i - select->count;

		if (is_ready(&select->cases[at]))
			return &select->cases[at];
	}
	return NULL;
}

static void take(struct eddy_case *one)
{
	if (one->kind == CASE_RECV)
		set_ready(one, eddy_chan_try_recv(one->on, one->entry.item));
	else if (one->kind == CASE_SEND)
		set_ready(one, eddy_chan_try_send(one->on, one->entry.item));
	else
		set_ready(one, 0);
}

static void enqueue(struct eddy_case *one)
{
	struct eddy_chan *chan = one->on;
	struct eddy_event *event = one->on;

	if (one->kind == CASE_RECV)
		eddy_list_append(&chan->receivers, &one->entry.node);
	else if (one->kind == CASE_SEND)
		eddy_list_append(&chan->senders, &one->entry.node);
	else if (one->kind == CASE_EVENT)
		eddy_list_append(&event->waiters, &one->entry.node);
	else if (one->kind == CASE_TIME)
		eddy_timer_arm(&one->timer, one->timer.at_ns);
}

static void enqueue_all(struct eddyi_select *select)
{
	for (size_t i = 0; i < select->count; i++)
		enqueue(&select->cases[i]);
}

static size_t draw(size_t count)
{
	static _Thread_local uint32_t seed;

	seed = seed * 1664525 + 1013904223;
	return count ? (seed >> 8) % count : 0;
}

static void peeked(struct eddy_timer *timer)
{
	struct eddyi_select *select = eddy_of(timer, struct eddyi_select, peeking);
	struct eddy_case *one = find_ready(select, draw(select->count));

	if (one) {
		take(one);
		claim(select, 0);
	} else {
		enqueue_all(select);
	}
}

static void own(struct eddy_case *one, const char *where)
{
	struct eddy_chan *chan = one->on;
	struct eddy_event *event = one->on;

	if (one->kind == CASE_RECV || one->kind == CASE_SEND)
		eddyi_own_made(&chan->loop, &chan->senders, "a channel", "eddy_chan_init", where);
	else if (one->kind == CASE_EVENT)
		eddyi_own_made(&event->loop, &event->waiters, "an event", "eddy_event_init", where);
}

static void reset(struct eddyi_select *select, const char *where)
{
	for (size_t i = 0; i < select->count; i++) {
		struct eddy_case *one = &select->cases[i];

		own(one, where);
		one->ready = false;
		one->result = 0;
		one->select = select;
		one->entry.served = entry_served;
		one->entry.waiter = &select->waiter;
		one->entry.node.next = NULL;
		one->timer.fire = time_is_up;
		one->timer.prev = NULL;
		one->op.node.next = NULL;
	}
}

int(eddy_select)(struct eddy_case *cases, size_t count, const char *where)
{
	struct eddyi_select select = {
		.waiter = { .cancel = cancel_select, .what = "select", .on = cases },
		.peeking = { .fire = peeked },
		.cases = cases,
		.count = count,
	};
	size_t start = draw(count);
	struct eddy_case *one;
	int ready = 0;

	reset(&select, where);
	if (eddy_is_cancelled())
		return -ECANCELED;
	one = find_ready(&select, start);
	if (one && cases[start].kind != CASE_OP) {
		take(one);
		return 1;
	}
	eddyi_task_at(where);
	start_ops(&select);
	if (one)
		eddy_timer_arm(&select.peeking, eddy_loop_now());
	else
		enqueue_all(&select);
	eddyi_wait(&select.waiter);
	withdraw_ops(&select);
	for (size_t i = 0; i < count; i++)
		ready += cases[i].ready;
	return ready ? ready : -ECANCELED;
}
