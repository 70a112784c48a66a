/* eddy/task.h: a task is a coroutine with its own stack. When it suspends, other tasks run on
 * the same thread.
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
 * eddy/scope.h), which outlives it.
 */
#ifndef EDDY_TASK_H
#define EDDY_TASK_H

#include <eddy/loop.h>

EDDY_BEGIN_DECLS

struct eddy_task;

/* Get the running task. Return: NULL on a plain thread and inside a completion function. */
EDDY_API struct eddy_task *eddy_task_self(void);

/* Get the name that a task was spawned with. */
EDDY_API const char *eddy_task_name(const struct eddy_task *task);

/* Measure how many bytes of a task's stack have been used, rounded up to pages. May include the use
 * by earlier tasks: free stacks are reused, and keep their pages for a second. Makes a system call.
 * The task must be of this loop. */
EDDY_API size_t eddy_task_stack_used(const struct eddy_task *task);

/* Let every other ready task run first. Suspends. Return: 0; -ECANCELED. */
EDDY_API int eddy_yield(void);

/* Sleep for `duration_ns`. Suspends. Return: 0; -ECANCELED. */
EDDY_API int eddy_sleep(uint64_t duration_ns);

EDDY_END_DECLS

#endif
