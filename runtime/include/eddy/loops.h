/* eddy/loops.h: many loops, one a thread, that share nothing and send messages.
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
 * A task stays on the loop on which it was spawned. Work is handed to another loop by
 * eddy_loops_call(), which runs a task there and waits for it, or by a message (eddy_loop_post()).
 */
#ifndef EDDY_LOOPS_H
#define EDDY_LOOPS_H

#include <eddy/loop.h>
#include <eddy/scope.h>

EDDY_BEGIN_DECLS

#define EDDY_LOOPS_MAX 1024

struct eddy_loops_options {
	struct eddy_loop_options loop; /* of the loops that are made; .name default "worker" */
	unsigned count; /* default: as many as processors that this process may use; 1 to EDDY_LOOPS_MAX */
	/* Each thread on a processor of its own, as far as there are so many; default: the kernel moves
	 * them. The calling thread gets its processors back at the end. */
	bool pin;
};

/* Run `fn(arg)` on this loop and on `count - 1` new ones, and wait until all have returned. Suspends.
 * None begins before all loops are there, and no loop ends before all have returned: while `fn` runs,
 * every eddy_loops_at() can be posted to. The first that fails cancels the others; so does a
 * cancellation of the current scope. One set of loops at a time on each loop.
 * Return: the first failure, else what `fn` returned here; -EINVAL for a bad count; -EAGAIN, -ENOMEM or
 * what eddy_run() says when a loop can't be had (`fn` was not called anywhere). */
EDDY_API int eddy_loops_run(const struct eddy_loops_options *options, eddy_task_fn *fn, void *arg);

/* The same from a plain main(): makes this thread's loop first, with the options of the others. */
EDDY_API int eddy_loops_run_blocking(const struct eddy_loops_options *options, eddy_task_fn *fn,
				     void *arg);

/* How many loops run together with this one: 1 outside of eddy_loops_run(). */
EDDY_API unsigned eddy_loops_count(void);

/* Which of them this is: 0 is the one that eddy_loops_run() was called on. */
EDDY_API unsigned eddy_loops_index(void);

/* One of them. `index` is below eddy_loops_count(). */
EDDY_API struct eddy_loop *eddy_loops_at(unsigned index);

/* Run `fn(arg)` as a task of `loop` and wait until it has returned. Suspends. `arg` may live on the
 * caller's stack, and must not be used by anybody else meanwhile: two threads. When the current scope is
 * cancelled, so is the task there, and its end is awaited. `loop` is one that is sure to live, such as
 * one of eddy_loops_at(), or this one.
 * Return: what `fn` returned; -ECANCELED when it was not begun; -ENOMEM. */
EDDY_API int eddy_loops_call(struct eddy_loop *loop, const char *name, eddy_task_fn *fn, void *arg,
			     const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_loops_call(...) eddy_loops_call(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
