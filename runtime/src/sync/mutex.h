/* mutex.h: a mutex that is taken whatever happens. */
#ifndef EDDYI_MUTEX_H
#define EDDYI_MUTEX_H

struct eddy_mutex;

/* As eddy_mutex_lock(), also where the scope is cancelled. */
void eddyi_mutex_lock_anyway(struct eddy_mutex *mutex);

#endif
