/* wait.h: how tasks wait and are woken. */
#ifndef EDDYI_WAIT_H
#define EDDYI_WAIT_H

#include "task.h"

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

/* Put a task that can continue into the ready queue. */
void eddyi_task_ready(struct eddy_loop *loop, struct eddy_task *task);

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
