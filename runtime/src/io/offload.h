/* offload.h: what others ask of the pool of threads. */
#ifndef EDDYI_OFFLOAD_H
#define EDDYI_OFFLOAD_H

#include <eddy/offload.h>

/* Whether any job waits or runs, given up or not, or has yet to say that it is done. Any thread. */
bool eddyi_offload_is_busy(void);

#endif
