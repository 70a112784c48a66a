/* eddy/dump.h: write what every task is waiting for, as a tree of scopes and tasks.
 *
 *     eddy_dump_all(STDERR_FILENO);
 *
 *     eddy: loop 1 "main" (thread 4711): 3 tasks, 0 pooled; 2 ops, 0 of them without a task; 2 timers
 *     └─ #1 "main" (eddy_run()), stack 4 KiB: scope join, for 12 ms
 *        └─ scope, 4987 ms left, fail-fast
 *           ├─ #2 "reader" (echo.c:14), stack 4 KiB: recv on 7 (tcp 127.0.0.1:80 with 127.0.0.1:4012), for 12 ms
 *           └─ #3 "ticker" (echo.c:15), stack 4 KiB: sleep, for 2 ms
 *
 * Below a task are the scopes that it has begun, and below a scope the tasks that it owns. A dump
 * allocates no memory. Very wide or deep trees are cut, and the dump says so. The text is for
 * people; its format may change.
 */
#ifndef EDDY_DUMP_H
#define EDDY_DUMP_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Write the tree of this thread's loop, its ops without a task and its counters to `fd`. Never
 * suspends. Blocks while `fd` accepts no bytes; if it is non-blocking, for at most a second.
 * Return: 0; -errno of a failed write, after which the rest is dropped. */
EDDY_API int eddy_dump(int fd);

/* Write the dumps of all loops of the process, one after the other. Any thread may call it. Never
 * suspends. Other loops are asked, by message, to write their own dumps; a loop that does not
 * answer within 100 ms is named with the task that holds it. Blocks for that long, at most a second
 * altogether.
 * Return: 0; -errno of a failed write. */
EDDY_API int eddy_dump_all(int fd);

EDDY_END_DECLS

#endif
