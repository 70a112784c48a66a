/* Invariants:
 * 1. A task enters the ready queue once for each time it suspends: when `woken` is set, or when it
 *    yields.
 * 2. A yielding task is queued after all that are ready. No other order is guaranteed.
 */
#include "wait.h"

#include "guest.h"

#include <errno.h>

void eddyi_task_ready(struct eddy_loop *loop, struct eddy_task *task)
{
	EDDYI_USDT(task__ready, loop->id, task->id, task->name);
	if (!eddyi_ask(loop, ready, task))
		eddy_list_append(&loop->ready, &task->queued);
}

/* Not inlined: tests count calls of it to see which tasks wait. */
__attribute__((noinline)) void eddyi_task_call_before_suspend(struct eddy_task *task)
{
	void (*fn)(void *arg) = task->before_suspend;

	task->before_suspend = NULL;
	fn(task->before_suspend_arg);
}

void eddyi_task_cannot_suspend(const struct eddy_task *task)
{
	if (!task)
		eddyi_task_is_missing(NULL, "");
	eddyi_panic_of(NULL, "",
		       "task \"%s\" suspends inside a function of eddyi_task_before_suspend()",
		       task->name);
}

void eddyi_wake(struct eddyi_waiter *waiter, int result)
{
	if (waiter->woken)
		return;
	waiter->woken = true;
	waiter->result = result;
	eddyi_task_ready(eddyi_loop(), waiter->task);
}

void eddyi_cancel_wait(struct eddyi_waiter *waiter)
{
	eddyi_wake(waiter, -ECANCELED);
}

void eddyi_task_before_suspend(void (*fn)(void *arg), void *arg)
{
	struct eddy_task *task = eddyi_task();

	task->before_suspend = fn;
	task->before_suspend_arg = arg;
}

int eddy_yield(void)
{
	struct eddyi_waiter waiter = { .cancel = eddyi_cancel_wait, .what = "yield" };
	struct eddy_task *task = eddyi_task();

	if (task->scope->cancelled)
		return -ECANCELED;
	/* Woken in advance: the task is already at the end of the ready queue. */
	waiter.cancel = NULL;
	eddy_list_append(&eddyi_loop()->ready, &task->queued);
	waiter.result = 0;
	eddyi_wait(&waiter);
	return 0;
}

struct sleeper {
	struct eddyi_waiter waiter;
	struct eddy_timer timer;
};

static void sleep_over(struct eddy_timer *timer)
{
	eddyi_wake(&eddy_of(timer, struct sleeper, timer)->waiter, 0);
}

int eddy_sleep(uint64_t duration_ns)
{
	struct sleeper sleeper = {
		.waiter = { .cancel = eddyi_cancel_wait, .what = "sleep" },
		.timer = { .fire = sleep_over },
	};
	int r;

	eddyi_task();
	/* From the current time, not the turn's start: never shorter than requested. */
	eddy_timer_arm(&sleeper.timer, eddyi_time_after(eddy_now(), duration_ns));
	r = eddyi_wait(&sleeper.waiter);
	eddy_timer_disarm(&sleeper.timer);
	return r;
}
