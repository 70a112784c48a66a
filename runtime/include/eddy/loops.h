/* eddy/loops.h: several loops, each on its own thread, which share nothing and post messages.
 *
 *     static int serve(void *arg)            // runs on every loop
 *     {
 *             struct eddy_listeners *all = arg;
 *             …
 *     }
 *
 *     int main(void)
 *     {
 *             return eddy_loops_run_blocking(NULL, serve, &all);
 *     }
 *
 * A task stays on the loop on which it was spawned. To hand work to another loop, call
 * eddy_loops_call(), which runs a task there and waits for it, or post a message
 * (eddy_loop_post()).
 */
#ifndef EDDY_LOOPS_H
#define EDDY_LOOPS_H

#include <eddy/loop.h>
#include <eddy/scope.h>

EDDY_BEGIN_DECLS

#define EDDY_LOOPS_MAX 1024

struct eddy_loops_options {
	/* Of the new loops. .name: default "worker"; .stack_size, .stall_ns: default those of the
	 * calling loop, so that a task finds the same on each. */
	struct eddy_loop_options loop;
	unsigned count; /* 1 to EDDY_LOOPS_MAX; default: the processors that this process may use */
	/* Pin each thread to a processor of its own, as far as there are enough. The calling thread
	 * gets its processors back at the end. Default: the kernel moves them. */
	bool pin;
};

/* Run `fn(arg)` on this loop and on `count - 1` new ones, and wait until all have returned.
 * Suspends. `fn` starts when all loops exist, and no loop ends before all have returned: while `fn`
 * runs, every eddy_loops_at() can be posted to. The first failure cancels the others; so does a
 * cancellation of the current scope. Must not be nested.
 * Return: the first failure, else what `fn` returned here; -EINVAL if `count` is out of
 * range; -EAGAIN, -ENOMEM or what eddy_run() returns if a loop can't be made (`fn` was not
 * called anywhere). */
EDDY_API int eddy_loops_run(const struct eddy_loops_options *options, eddy_task_fn *fn, void *arg);

/* Run `fn(arg)` on many loops from a plain main(), as eddy_loops_run() does. Makes this thread's
 * loop first, with the same options. */
EDDY_API int eddy_loops_run_blocking(const struct eddy_loops_options *options, eddy_task_fn *fn,
				     void *arg);

/* Count the loops that run together with this one, itself included. */
EDDY_API unsigned eddy_loops_count(void);

/* Get the index of this loop. 0 is the loop that called eddy_loops_run(). */
EDDY_API unsigned eddy_loops_index(void);

/* Get the loop with an index below eddy_loops_count(). */
EDDY_API struct eddy_loop *eddy_loops_at(unsigned index);

/* Run `fn(arg)` as a task of `loop` and wait until it has returned. Suspends. `arg` may be on the
 * caller's stack, and nothing else may use it meanwhile: the task runs on another thread. If the
 * current scope is cancelled, so is the task, and its end is awaited. `loop` must exist until then:
 * this loop, or one of eddy_loops_at().
 * Return: what `fn` returned; -ECANCELED if it was not started; -ENOMEM. */
EDDY_API int eddy_loops_call(struct eddy_loop *loop, const char *name, eddy_task_fn *fn, void *arg,
			     const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_loops_call(...) eddy_loops_call(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
