/* eddy/dump.h: what every task is doing, as a picture for people.
 *
 *     eddy_dump_all(STDERR_FILENO);
 *
 *     eddy: loop 1 "main" (thread 4711): 3 tasks, 0 pooled; 2 ops, 0 of them without a task; 2 timers
 *     └─ #1 "main" (eddy_run()), stack 4 KiB: scope join, for 12 ms
 *        └─ scope, 4987 ms left, fail-fast
 *           ├─ #2 "reader" (echo.c:14), stack 4 KiB: recv on 7 (tcp 127.0.0.1:80 with 127.0.0.1:4012), for 12 ms
 *           └─ #3 "ticker" (echo.c:15), stack 4 KiB: sleep, for 2 ms
 *
 * Below a task stand the scopes that it has begun, and in each the tasks that the scope owns. A dump
 * allocates nothing; of very wide or very deep trees it shows a part and says so. It is text for
 * eyes: its form is not fixed.
 */
#ifndef EDDY_DUMP_H
#define EDDY_DUMP_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Write the tree of this thread's loop, its ops without a task and its counters to `fd`. Never
 * suspends; blocks while `fd` takes no bytes, but gives up a non-blocking one after a second.
 * Return: 0; -errno of a write, the rest is dropped. */
EDDY_API int eddy_dump(int fd);

/* Write what eddy_dump() does for every loop of the process, one after the other. The others are asked
 * by message to write themselves; one that does not answer within 100 ms is named with the task that
 * holds it. Blocks for that long, and never for more than a second altogether; never suspends. Any
 * thread.
 * Return: 0; -errno of a write. */
EDDY_API int eddy_dump_all(int fd);

EDDY_END_DECLS

#endif
