/* eddy/main.h: the main() of a program that is one task and the tasks it starts.
 *
 *     static int serve(void *address)
 *     {
 *             …                                   // until a call returns -ECANCELED: Ctrl-C
 *     }
 *
 *     int main(void)
 *     {
 *             return eddy_main(serve, "localhost:7878");
 *     }
 *
 * eddy_main() is eddy_run() with graceful shutdown on signals, and a message on stderr on failure.
 * Programs with other needs use eddy/loop.h and eddy/signal.h.
 */
#ifndef EDDY_MAIN_H
#define EDDY_MAIN_H

#include <eddy/loop.h>

EDDY_BEGIN_DECLS

/* Run `fn(arg)` as this program's root task, on this thread. The first SIGINT or SIGTERM cancels the
 * task and all that it has started; the second kills the process. While a task holds the loop, one
 * that comes a second after the first kills it. A failure prints one line on stderr, NAME: REASON.
 * If the kernel refuses io_uring, it says what to type.
 * Return: the exit status: what `fn` returned, if that is 0 or above; 0 if a signal ended it and it
 * returned -ECANCELED; else 1. */
EDDY_API int eddy_main(eddy_task_fn *fn, void *arg);

EDDY_END_DECLS

#endif
