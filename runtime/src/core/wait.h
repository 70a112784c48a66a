/* wait.h: a task, how it waits, and how it is woken. */
#ifndef EDDYI_WAIT_H
#define EDDYI_WAIT_H

#include "loop.h"

#include <eddy/internal/loop.h>

/* Who is told of a task's end; .fn is NULL for nobody. */
struct eddyi_told {
	void (*fn)(void *arg, int result);
	void *arg;
};

/* A task and its stack are one: they are pooled together, and the structure lies at the stack's
 * upper end.
 *
 * Invariants:
 * 1. A task is in exactly one place: running, in loop->ready, suspended with `waiter` set, or in
 *    loop->idle or loop->trimmed.
 * 2. `waiter` is set only while suspended and points into the task's own stack.
 * 3. `scope` is the innermost scope that the task is inside of; `inside` is in that scope's list.
 */
struct eddy_task {
	/* What a switch touches, in two lines of the cache. */
	struct eddy_node queued; /* in loop->ready, ->idle or ->trimmed */
	struct eddyi_ctx ctx;
	struct eddyi_waiter *waiter;
	struct eddy_scope *scope;
	void (*before_suspend)(void *arg); /* called once; NULL for nothing */
	bool ended;

	struct eddy_node inside;  /* in scope->tasks */
	struct eddy_scope *owner; /* the scope that spawned it */
	struct eddyi_told told;   /* of its end */
	void *before_suspend_arg;
	eddy_task_fn *fn;
	void *arg;
	const char *name;
	const char *where; /* it was spawned, "file.c:12" */
	uint64_t id;       /* no two of a loop's */
	uint64_t idle_since_ns;
	void *low; /* of the stack */
	int result;

	/* Of tape.c: what is of the timeline. */
	uint32_t track; /* 0: it has none yet */
	uint32_t woken_by;
	uint64_t ready_ns; /* 0: not known */
};

/* A suspended task's way of being woken, on its stack.
 *
 * Whoever first sets `woken` decides the result; everybody later leaves it alone. `cancel` is called
 * at most once, when the scope is cancelled while the task waits: it either wakes the task with
 * -ECANCELED at once, or asks the kernel to let go and leaves the waking to the completion. NULL for
 * a wait that is not cancelled. */
struct eddyi_waiter {
	struct eddy_task *task;
	void (*cancel)(struct eddyi_waiter *waiter);
	/* For the eyes of people: what is waited for ("sleep", "mutex"), which one, and since when. */
	const char *what;
	const void *on;                  /* a mutex, a channel; NULL for nothing in particular */
	struct eddy_task *const *holder; /* who has it, where that is one task; NULL */
	const struct eddy_op *op;        /* the op that is awaited; NULL for none */
	uint64_t since_ns;               /* set when the wait begins */
	int result;
	bool woken;
};

/* A task for `fn(arg)` from the pool, outside of every scope and not yet ready. NULL: no memory. */
struct eddy_task *eddyi_task_take(struct eddy_loop *loop, const char *name, eddy_task_fn *fn,
				  void *arg);

/* Make a task ready to run. */
void eddyi_task_ready(struct eddy_loop *loop, struct eddy_task *task);

/* What is rare when a task has suspended: it has ended, or wants the loop's stack. */
void eddyi_task_back(struct eddy_loop *loop, struct eddy_task *task);

/* Give back the pages of stacks that have been idle for a while. */
void eddyi_task_trim(struct eddy_timer *timer);

/* Forget all pooled tasks; their stacks are unmapped with the loop's. */
void eddyi_task_deinit_idle(struct eddy_loop *loop);

/* What eddy_task_stack_used() says, of any loop's task; the loop remembers the most. */
size_t eddyi_task_stack_used(struct eddy_loop *loop, const struct eddy_task *task);

/* Copy that, and whose it was. Any thread. */
void eddyi_stack_used_most(const struct eddy_loop *loop, struct eddy_loop_stats *stats);

/* Call what was given to eddyi_task_before_suspend(). */
void eddyi_task_call_before_suspend(struct eddy_task *task);

/* Panics: there is no task (NULL), or it is about to wait for something else. */
_Noreturn void eddyi_task_cannot_suspend(const struct eddy_task *task);

/* Suspend the current task until somebody wakes `waiter`; its .cancel and .what are set by the
 * caller. When the scope is cancelled already and the wait can be, returns -ECANCELED at once.
 * Return: the result it was woken with. */
static inline __attribute__((always_inline)) int eddyi_wait(struct eddyi_waiter *waiter)
{
	struct eddy_loop *loop = eddyi_loop();
	struct eddy_task *task = loop->running;

	if (__builtin_expect(!task || task->waiter, 0))
		eddyi_task_cannot_suspend(task);
	if (waiter->cancel && task->scope->cancelled)
		return -ECANCELED;
	waiter->task = task;
	waiter->woken = false;
	waiter->since_ns = loop->now_ns;
	task->waiter = waiter;
	/* It waits already: what is called here may wake or cancel it. */
	if (__builtin_expect(task->before_suspend != NULL, 0))
		eddyi_task_call_before_suspend(task);
	EDDYI_USDT(task__suspend, loop->id, task->id, task->name, waiter->what);
	eddyi_ctx_switch_hot(&task->ctx, &loop->ctx);
	task->waiter = NULL;
	return waiter->result;
}

/* Wake the waiter's task with `result`, unless it has been woken. */
void eddyi_wake(struct eddyi_waiter *waiter, int result);

/* The simplest `cancel`: wake with -ECANCELED; for waiters that nobody else holds. */
void eddyi_cancel_wait(struct eddyi_waiter *waiter);

#endif
