/* wait.h: tasks, and how they wait and are woken. */
#ifndef EDDYI_WAIT_H
#define EDDYI_WAIT_H

#include "loop.h"

#include <eddy/internal/loop.h>

/* A function to call when a task ends; .fn is NULL for none. */
struct eddyi_told {
	void (*fn)(void *arg, int result);
	void *arg;
};

/* A task and its stack are pooled together; the structure is at the stack's upper end.
 *
 * Invariants:
 * 1. A task is in exactly one place: running, in loop->ready, suspended with `waiter` set, or in
 *    loop->idle or loop->trimmed.
 * 2. `waiter` is set only while the task is suspended, and points into its own stack.
 * 3. `scope` is the innermost scope that the task is in; `inside` is in that scope's list.
 */
struct eddy_task {
	/* Fields that a switch uses come first, in two cache lines. */
	struct eddy_node queued; /* in loop->ready, ->idle or ->trimmed */
	struct eddyi_ctx ctx;
	struct eddyi_waiter *waiter;
	struct eddy_scope *scope;
	void (*before_suspend)(void *arg); /* called once; may be NULL */
	bool ended;

	struct eddy_node inside;  /* in scope->tasks */
	const char *scope_where;  /* where `scope` began; valid when it is not any more */
	struct eddy_scope *owner; /* the scope that spawned it */
	struct eddyi_told told;   /* called when it ends */
	void *before_suspend_arg;
	eddy_task_fn *fn;
	void *arg;
	const char *name;
	const char *where; /* place of its spawn, "file.c:12" */
	uint64_t id;       /* unique within the loop */
	uint64_t idle_since_ns;
	void *low; /* lowest address of the stack */
	int result;
	const char *label;           /* of eddyi_task_set_label(); NULL */
	struct eddyi_opened *opened; /* of eddyi_opened_begin(); NULL */

	/* Of tape.c, for the timeline. */
	uint32_t track; /* 0: none yet */
	uint32_t woken_by;
	uint64_t ready_ns; /* 0: unknown */
};

/* The wait of a suspended task; on its stack.
 *
 * The first to set `woken` decides the result; later wake-ups are ignored. `cancel` is called at
 * most once, when the scope is cancelled while the task waits. It either wakes the task with
 * -ECANCELED at once, or cancels the op in the kernel, whose completion then wakes the task. NULL
 * if the wait can't be cancelled. */
struct eddyi_waiter {
	struct eddy_task *task;
	void (*cancel)(struct eddyi_waiter *waiter);
	/* For reports: the thing waited for ("sleep", "mutex"), its address, and since when. */
	const char *what;
	const void *on;                  /* a mutex, a channel; may be NULL */
	struct eddy_task *const *holder; /* the task that holds it, if it is one; may be NULL */
	const struct eddy_op *op;        /* the awaited op; may be NULL */
	uint64_t since_ns;
	int result;
	bool woken;
};

/* Take a task from the pool, in no scope and not ready. Return: NULL on allocation failure. */
struct eddy_task *eddyi_task_take(struct eddy_loop *loop, const char *name, eddy_task_fn *fn,
				  void *arg);

/* Get the label of the running task, or NULL. Any thread may call it. */
const char *eddyi_task_label(void);

void eddyi_task_ready(struct eddy_loop *loop, struct eddy_task *task);

/* Handle the rare cases after a task has suspended: it has ended, or requests the loop's stack. */
void eddyi_task_back(struct eddy_loop *loop, struct eddy_task *task);

/* Return the pages of stacks that have been idle for a while to the kernel. */
void eddyi_task_trim(struct eddy_timer *timer);

/* Drop all pooled tasks. Their stacks are unmapped with the loop's. */
void eddyi_task_deinit_idle(struct eddy_loop *loop);

/* eddy_task_stack_used() for a task of any loop; updates the loop's maximum. */
size_t eddyi_task_stack_used(struct eddy_loop *loop, const struct eddy_task *task);

/* Copy the maximum and the task that reached it. Any thread may call it. */
void eddyi_stack_used_most(const struct eddy_loop *loop, struct eddy_loop_stats *stats);

/* Call the function passed to eddyi_task_before_suspend(). */
void eddyi_task_call_before_suspend(struct eddy_task *task);

/* Panic: there is no task (NULL), or it already waits for something else. */
_Noreturn void eddyi_task_cannot_suspend(const struct eddy_task *task);

/* Suspend the current task until `waiter` is woken. The caller sets .cancel and .what. If the scope
 * is already cancelled and .cancel is set, returns -ECANCELED at once.
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
	/* `waiter` is set already, so this function may wake or cancel the task. */
	if (__builtin_expect(task->before_suspend != NULL, 0))
		eddyi_task_call_before_suspend(task);
	EDDYI_USDT(task__suspend, loop->id, task->id, task->name, waiter->what);
	eddyi_ctx_switch_hot(&task->ctx, &loop->ctx);
	task->waiter = NULL;
	return waiter->result;
}

/* Wake the waiter's task with `result`, unless it was woken before. */
void eddyi_wake(struct eddyi_waiter *waiter, int result);

/* The simplest `cancel`: wake with -ECANCELED. For waiters that are in no list. */
void eddyi_cancel_wait(struct eddyi_waiter *waiter);

#endif
