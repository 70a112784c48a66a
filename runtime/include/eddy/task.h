/* eddy/task.h: a task is a stackful coroutine: a function with a stack of its own that other tasks
 * run beside, on the same thread, whenever it suspends.
 *
 *     static int hello(void *arg)
 *     {
 *             eddy_sleep(EDDY_SECOND);
 *             puts(arg);
 *             return 0;
 *     }
 *
 *     int main(void)
 *     {
 *             return eddy_run(NULL, hello, "one second later");
 *     }
 *
 * A task never changes its thread and always ends by returning. It is started in a scope (see
 * eddy/scope.h), which outlives it. Every call that suspends says so.
 */
#ifndef EDDY_TASK_H
#define EDDY_TASK_H

#include <eddy/loop.h>

EDDY_BEGIN_DECLS

struct eddy_task;

/* The task that runs now; NULL on a plain thread and inside a completion function. */
EDDY_API struct eddy_task *eddy_task_self(void);

/* The name that it was spawned with. */
EDDY_API const char *eddy_task_name(const struct eddy_task *task);

/* How many bytes of its stack have been used, to whole pages, by the task or by those that had the same
 * stack before it: pooled stacks keep their pages for a second. Asks the kernel. A task of this loop. */
EDDY_API size_t eddy_task_stack_used(const struct eddy_task *task);

/* Let every other task that is ready run first. Suspends.
 * Return: 0, -ECANCELED. */
EDDY_API int eddy_yield(void);

/* Sleep for `duration_ns`. Suspends.
 * Return: 0, -ECANCELED. */
EDDY_API int eddy_sleep(uint64_t duration_ns);

/* Call `fn(arg)` once, right before the current task next suspends, in place of what was asked before;
 * NULL takes it back. For work that is held back in the hope of more to come, and should not be when
 * the task waits for something else. `fn` runs when the task waits already: a call in it that has to suspend is a
 * broken contract. */
EDDY_API void eddy_task_before_suspend(void (*fn)(void *arg), void *arg);

EDDY_END_DECLS

#endif
