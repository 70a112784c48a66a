/* stall.h: a thread that notices when a task holds its loop. */
#ifndef EDDYI_STALL_H
#define EDDYI_STALL_H

#include <eddy/base.h>

struct eddy_loop;

/* Watch this thread's loop from here on: what holds it for longer than `stall_ns` is told in a WARN
 * record. 0: no watch. */
void eddyi_stall_begin(struct eddy_loop *loop, uint64_t stall_ns);

/* Stop watching it; when this returns nobody looks at the loop any more. */
void eddyi_stall_end(struct eddy_loop *loop);

#endif
