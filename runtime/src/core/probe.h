/* probe.h: trace points of the runtime. Each is a static probe (if eddy/usdt.h enables them) and
 * records to the loop's tape. When nothing is recorded it costs one test of a pointer. */
#ifndef EDDYI_PROBE_H
#define EDDYI_PROBE_H

#include "wait.h"
#include "tape.h"
#include "tapes.h"

#include <eddy/internal/usdt.h>

#define eddyi_probe_is_on(loop) __builtin_expect((loop)->tape != NULL, 0)

/* Once a turn, after entering the kernel. */
static inline void eddyi_probe_turn(struct eddy_loop *loop)
{
	if (eddyi_timeline_has_begun() || __builtin_expect(loop->own_tape != NULL, 0))
		eddyi_tape_turn(loop);
}

/* The task starts or resumes. */
static inline void eddyi_probe_run(struct eddy_loop *loop, struct eddy_task *task)
{
	EDDYI_USDT(task__run, loop->id, task->id, task->name);
	if (eddyi_probe_is_on(loop))
		eddyi_tape_run(loop, task);
}

/* Control is back on the loop's stack: the task waits, or has ended and `waiter` is NULL. */
static inline void eddyi_probe_back(struct eddy_loop *loop, struct eddyi_waiter *waiter)
{
	if (eddyi_probe_is_on(loop))
		eddyi_tape_back(loop, waiter);
}

/* The task was made ready, by the running task or by the loop itself. */
static inline void eddyi_probe_ready(struct eddy_loop *loop, struct eddy_task *task)
{
	EDDYI_USDT(task__ready, loop->id, task->id, task->name);
	if (eddyi_probe_is_on(loop))
		eddyi_tape_ready(loop, task);
}

/* The task has ended; its structure is still valid. */
static inline void eddyi_probe_end(struct eddy_loop *loop, struct eddy_task *task)
{
	EDDYI_USDT(task__end, loop->id, task->id, task->name, task->result);
	if (__builtin_expect(loop->own_tape != NULL, 0))
		eddyi_tape_left(loop->own_tape, task);
}

static inline void eddyi_probe_started(struct eddy_loop *loop, struct eddy_op *op)
{
	EDDYI_USDT(op__submit, loop->id, op, op->opcode, op->fd, op->len);
	if (eddyi_probe_is_on(loop))
		eddyi_tape_started(op);
}

/* Before and after an op's completion function or the wake-up of its task. */
static inline void eddyi_probe_completing(struct eddy_loop *loop, const struct eddy_op *op,
					  int result, unsigned flags)
{
	EDDYI_USDT(op__complete, loop->id, op, op->opcode, op->fd, result, flags);
	if (eddyi_probe_is_on(loop))
		eddyi_tape_completing(loop, op, result, flags);
}

static inline void eddyi_probe_completed(struct eddy_loop *loop)
{
	if (eddyi_probe_is_on(loop))
		eddyi_tape_completed(loop);
}

/* The loop's own work since the last mark: `count` items; nothing is recorded for 0. */
static inline void eddyi_probe_ring(struct eddy_loop *loop, enum eddyi_mark_kind kind,
				    uint64_t count)
{
	if (eddyi_probe_is_on(loop) && count)
		eddyi_tape_ring(loop, kind, count);
}

#endif
