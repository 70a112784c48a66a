/* mutex.h: locking a mutex regardless of cancellation. */
#ifndef EDDYI_MUTEX_H
#define EDDYI_MUTEX_H

struct eddy_mutex;

/* eddy_mutex_lock(), but never returns early because the scope is cancelled. */
void eddyi_mutex_lock_anyway(struct eddy_mutex *mutex);

#endif
