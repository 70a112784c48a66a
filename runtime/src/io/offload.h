/* offload.h: what others ask of the pool of threads. */
#ifndef EDDYI_OFFLOAD_H
#define EDDYI_OFFLOAD_H

#include <eddy/offload.h>

/* Whether any job waits or runs, given up or not, or has yet to say that it is done. Any thread. */
bool eddyi_offload_is_busy(void);

/* Begin anew in a child that was forked: it has none of the threads. */
void eddyi_offload_in_child(void);

#endif
