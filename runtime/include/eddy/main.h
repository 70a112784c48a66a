/* eddy/main.h: a whole program that is one task and what it starts.
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
 * It is eddy_run() with what a main() puts around it: signals that end the program well, and a word on
 * stderr when it failed. Nothing in it is private: a program with other wishes writes its own, with
 * eddy/loop.h and eddy/signal.h.
 */
#ifndef EDDY_MAIN_H
#define EDDY_MAIN_H

#include <eddy/loop.h>

EDDY_BEGIN_DECLS

/* Run `fn(arg)` as this program's root task, on this thread. The first SIGINT or SIGTERM cancels it,
 * with all that it has started; the second one kills the process, as ever. A failure is said on stderr
 * in one line: NAME: REASON; when there is no io_uring to be had, what to type. To be called from main(),
 * before any thread is made.
 * Return: the exit status: what `fn` returned, if that is 0 or above; 0 too when a signal ended it and
 * it returned -ECANCELED; else 1. */
EDDY_API int eddy_main(eddy_task_fn *fn, void *arg);

EDDY_END_DECLS

#endif
