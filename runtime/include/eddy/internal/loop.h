/* eddy/internal/loop.h: hooks of loops and tasks; for eddy's own layers. */
#ifndef EDDY_INTERNAL_LOOP_H
#define EDDY_INTERNAL_LOOP_H

#include <eddy/loop.h>
#include <eddy/task.h>

EDDY_BEGIN_DECLS

/* A callback for a loop's end, embedded in an object that is kept for the loop. */
struct eddyi_at_end {
	struct eddyi_at_end *next;
	void (*fn)(struct eddyi_at_end *at_end);
};

/* Call `fn(at_end)` on this thread when its loop ends and nothing of it is in flight any more. The
 * last one registered is called first. `fn` must not suspend. `*at_end` is borrowed until then;
 * `fn` may free it. */
EDDY_API void eddyi_loop_at_end(struct eddyi_at_end *at_end,
				void (*fn)(struct eddyi_at_end *at_end));

/* Run as eddy_run(), without the ERROR record if there is no loop: the caller reports that. */
EDDY_API int eddyi_run(const struct eddy_loop_options *options, eddy_task_fn *fn, void *arg);

/* Limit the kernel's worker threads (io-wq) of this loop. Never suspends. `max`, 1 to 1024, is
 * the limit for calls on regular files, and again for all others; 0 means the default of 8. A
 * worker makes a call that would block, such as a write to a slow disk. Further calls wait for a
 * free worker, and a file system that hangs keeps its workers. No call of eddy/io.h waits for a
 * peer in a worker.
 * Return: 0; -EINVAL if `max` is out of range or the kernel refuses. */
EDDY_API int eddyi_loop_set_io_workers_max(unsigned max);

/* Call `fn(arg)` once, right before the current task next suspends. Replaces an earlier request;
 * NULL removes it. For work that is delayed to combine it with more, until the task waits for
 * something else. A suspending call in `fn` is a programming error: aborts with file and line. */
EDDY_API void eddyi_task_before_suspend(void (*fn)(void *arg), void *arg);

/* Tell whether `ptr` is on the stack of the current task, or of a function that the task runs on the
 * loop's stack (eddy_on_loop_stack()). Such memory is gone when the function has returned. Never
 * suspends. */
EDDY_API bool eddyi_task_owns(const void *ptr);

/* Count the kernel's worker threads (io-wq) of all loops. Any thread may call it. Never suspends.
 * Reads /proc: some 10 us for each thread of the process. Return: 0 also without /proc. */
EDDY_API unsigned eddyi_stats_io_workers(void);

EDDY_END_DECLS

#endif
