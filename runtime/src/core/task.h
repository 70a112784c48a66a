/* task.h: tasks. */
#ifndef EDDYI_TASK_H
#define EDDYI_TASK_H

#include "loop.h"

struct eddyi_opened;
struct eddyi_waiter;

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

	/* Of the timeline. */
	uint32_t track; /* 0: none yet */
	uint32_t woken_by;
	uint64_t ready_ns; /* 0: unknown */
};

/* Take a task from the pool, in no scope and not ready. Return: NULL on allocation failure. */
struct eddy_task *eddyi_task_take(struct eddy_loop *loop, const char *name, eddy_task_fn *fn,
				  void *arg);

/* Get the label of the running task, or NULL. Any thread may call it. */
const char *eddyi_task_label(void);

/* Note that a task of `scope` has ended with `result`; in scope.c. */
void eddyi_scope_task_ended(struct eddy_scope *scope, int result);

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

#endif
