/* Recording of a loop's activity on its own tape. */
#include "loop.h"
#include "wait.h"

#include "base/out.h"
#include "tapes.h"

#include <eddy/timeline.h>
#include <string.h>

/* The longest that a loop's end waits until its marks are written. */
#define PATIENCE_NS EDDY_SECOND

_Thread_local enum eddyi_trace_state eddyi_trace_state;

static void open_at(struct eddy_loop *loop, uint64_t now)
{
	struct eddyi_tape *tape = loop->own_tape;
	struct eddy_task *task = loop->running ? loop->running : loop->on_stack.task;

	tape->at_ns = tape->opened_ns = now;
	tape->run.kind = tape->op.kind = EDDYI_MARK_NONE;
	loop->tape = tape;
	eddyi_trace_state = EDDYI_TRACE_ON;
	/* Recording began in the middle of a task. */
	if (task)
		eddyi_tape_run(loop, task);
}

/* Return: false if no timeline is recorded. */
static bool join(struct eddy_loop *loop)
{
	struct eddyi_tape *tape = eddyi_tapes_join(loop);

	if (!tape)
		return false;
	tape->ring_track = eddyi_tape_name(tape, "ring", NULL, true);
	tape->span_track = eddyi_tape_name(tape, "spans", NULL, true);
	loop->own_tape = tape;
	eddyi_trace_state = EDDYI_TRACE_BETWEEN_SLICES;
	return true;
}

static void leave(struct eddy_loop *loop)
{
	struct eddyi_tape *tape = loop->own_tape;

	loop->tape = loop->own_tape = NULL;
	eddyi_trace_state = EDDYI_TRACE_OFF;
	if (tape)
		eddyi_tapes_leave(tape);
}

void eddyi_tape_look(struct eddy_loop *loop)
{
	unsigned generation = __atomic_load_n(&eddyi_trace_generation, __ATOMIC_RELAXED);
	struct eddyi_tape *tape;
	uint64_t now;

	if (loop->own_tape && loop->own_tape->generation != generation)
		leave(loop);
	if (!(generation & 1) || (!loop->own_tape && !join(loop)))
		return;
	tape = loop->own_tape;
	now = loop->tape ? tape->at_ns : eddy_now();
	if (now < tape->edge_ns)
		return;
	tape->edge_ns = eddyi_tape_edge_after(tape, now);
	if (!eddyi_tape_is_in_slice(tape, now)) {
		loop->tape = NULL;
		eddyi_trace_state = EDDYI_TRACE_BETWEEN_SLICES;
	} else if (!loop->tape)
		open_at(loop, now);
}

void eddyi_tape_turn(struct eddy_loop *loop)
{
	if (loop->tape)
		eddyi_tape_ring(loop, EDDYI_MARK_KERNEL, io_uring_cq_ready(&loop->ring));
	eddyi_tape_look(loop);
}

void eddyi_tape_end(struct eddy_loop *loop)
{
	leave(loop);
	eddyi_tapes_flush(PATIENCE_NS);
}

void eddyi_tape_cut(struct eddy_loop *loop)
{
	if (loop->tape && loop->tape->run.kind)
		eddyi_tape_back(loop, NULL);
	loop->tape = NULL;
	eddyi_trace_state = EDDYI_TRACE_OFF;
}

/* ---- tracks ---- */

/* FNV-1a. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261;

	for (; name && *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619;
	return hash;
}

static void forget_left(struct eddyi_tape *tape, uint32_t at)
{
	tape->left_count--;
	memmove(&tape->left[at], &tape->left[at + 1],
		(tape->left_count - at) * sizeof(tape->left[0]));
}

void eddyi_tape_left(struct eddyi_tape *tape, const struct eddy_task *task)
{
	if (task->track < tape->first_track)
		return;
	/* Drop the oldest: names that are never used again would fill the table. */
	if (tape->left_count == EDDYI_TRACKS_LEFT)
		forget_left(tape, 0);
	tape->left[tape->left_count].hash = hash_of(task->name);
	tape->left[tape->left_count].ran_ns = tape->at_ns;
	tape->left[tape->left_count++].track = task->track;
}

/* Get the task's track. A reused one must have been left before `since_ns`. Return: 0 if there is
 * no room for its name. */
static uint32_t track_of(struct eddyi_tape *tape, struct eddy_task *task, uint64_t since_ns)
{
	uint32_t hash;

	if (task->track >= tape->first_track)
		return task->track;
	hash = hash_of(task->name);
	for (uint32_t i = tape->left_count; i-- > 0;) {
		if (tape->left[i].hash != hash || tape->left[i].ran_ns >= since_ns)
			continue;
		task->track = tape->left[i].track;
		forget_left(tape, i);
		return task->track;
	}
	task->track = eddyi_tape_name(tape, task->name, eddyi_place(task->where), false);
	return task->track;
}

/* ---- tasks ---- */

void eddyi_tape_run(struct eddy_loop *loop, struct eddy_task *task)
{
	struct eddyi_tape *tape = loop->tape;
	const struct eddyi_waiter *waiter = task->waiter;
	struct eddyi_mark *run = &tape->run;
	uint64_t since = tape->at_ns;

	/* A wait is recorded from the begin of this slice at the earliest. */
	if (waiter)
		since = waiter->since_ns > tape->opened_ns ? waiter->since_ns : tape->opened_ns;
	*run = (struct eddyi_mark){
		.kind = EDDYI_MARK_RUN,
		.track = track_of(tape, task, since),
		.begin_ns = tape->at_ns,
		.run = { .fd = -1, .task = (uint32_t)task->id },
	};
	if (waiter) {
		run->run.since_ns = since;
		run->run.what = waiter->what;
		if (waiter->op) {
			run->run.what = NULL;
			run->run.fd = waiter->op->fd;
			run->opcode = waiter->op->opcode;
		}
	}
	/* Only from this slice: marks of an earlier one may have been dropped. */
	if (task->ready_ns >= tape->opened_ns &&
	    (!task->woken_by || task->woken_by >= tape->first_track)) {
		run->run.ready_ns = task->ready_ns;
		run->run.from = task->woken_by;
		if (task->woken_by)
			run->run.flow = ++tape->last_flow;
	}
	task->ready_ns = 0;
}

void eddyi_tape_back(struct eddy_loop *loop, struct eddyi_waiter *waiter)
{
	struct eddyi_tape *tape = loop->tape;
	struct eddyi_mark *mark;

	tape->at_ns = tape->run.end_ns = eddy_now();
	if (waiter)
		waiter->since_ns = tape->at_ns;
	/* A track without a name is useless; the lack of room for it has been counted. */
	if (tape->run.kind && tape->run.track && (mark = eddyi_tape_take(tape, 0))) {
		*mark = tape->run;
		eddyi_tape_commit(tape, 0);
	}
	tape->run.kind = EDDYI_MARK_NONE;
}

void eddyi_tape_ready(struct eddy_loop *loop, struct eddy_task *task)
{
	struct eddyi_tape *tape = loop->tape;

	task->ready_ns = tape->run.kind ? eddy_now() : tape->at_ns;
	task->woken_by = tape->run.kind ? tape->run.track : tape->ring_track;
	/* The waker is not recorded: eddy_run(), or activity before this slice. */
	if (!tape->run.kind && tape->at_ns == tape->opened_ns)
		task->woken_by = 0;
}

/* ---- ops ---- */

void eddyi_tape_started(struct eddy_op *op)
{
	op->since_ns = eddy_now();
}

void eddyi_tape_completing(struct eddy_loop *loop, const struct eddy_op *op, int result,
			   unsigned flags)
{
	struct eddyi_tape *tape = loop->tape;
	const struct eddy_task *task = op->waiter ? op->waiter->task : NULL;

	tape->op = (struct eddyi_mark){
		.kind = flags & IORING_CQE_F_MORE ? EDDYI_MARK_MORE : EDDYI_MARK_OP,
		.opcode = op->opcode,
		.worked = op->worked,
		.track = tape->ring_track,
		.begin_ns = tape->at_ns,
		.op = {
			.since_ns = op->since_ns,
			.fd = op->fd,
			.fd2 = op->fd2,
			.result = result,
			.len = op->len,
			.id = ++tape->last_flow,
			.own = op->own,
			.task = task && task->track >= tape->first_track ? task->track : 0,
		},
	};
}

void eddyi_tape_completed(struct eddy_loop *loop)
{
	struct eddyi_tape *tape = loop->tape;
	struct eddyi_mark *mark;

	if (!tape->op.kind)
		return;
	tape->at_ns = tape->op.end_ns = eddy_now();
	mark = eddyi_tape_take(tape, 0);
	if (mark) {
		*mark = tape->op;
		eddyi_tape_commit(tape, 0);
	}
	tape->op.kind = EDDYI_MARK_NONE;
}

void eddyi_tape_ring(struct eddy_loop *loop, enum eddyi_mark_kind kind, uint64_t count)
{
	struct eddyi_tape *tape = loop->tape;
	struct eddyi_mark *mark = eddyi_tape_take(tape, 0);
	uint64_t now = eddy_now();

	if (mark) {
		*mark = (struct eddyi_mark){
			.kind = kind,
			.track = tape->ring_track,
			.begin_ns = tape->at_ns,
			.end_ns = now,
			.ring = { .count = (uint32_t)count },
		};
		eddyi_tape_commit(tape, 0);
	}
	tape->at_ns = now;
}
