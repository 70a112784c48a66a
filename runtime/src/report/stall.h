/* stall.h: a thread that detects tasks that block their loop. */
#ifndef EDDYI_STALL_H
#define EDDYI_STALL_H

#include <eddy/base.h>

struct eddy_loop;

/* Watch this thread's loop: log a WARN if a task blocks it for over `stall_ns` (0: off). */
void eddyi_stall_begin(struct eddy_loop *loop, uint64_t stall_ns);

/* Get the `stall_ns` of a loop, which must not end meanwhile; 0: off. Any thread may call it. */
uint64_t eddyi_stall_limit(const struct eddy_loop *loop);

/* Stop watching. Afterwards the watching thread no longer accesses the loop. */
void eddyi_stall_end(struct eddy_loop *loop);

#endif
