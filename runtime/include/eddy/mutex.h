/* eddy/mutex.h: mutual exclusion between tasks of one loop, across calls that suspend.
 *
 *     r = eddy_mutex_lock(&mutex);
 *     if (r < 0)
 *             return r;
 *     …calls that suspend…
 *     eddy_mutex_unlock(&mutex);
 *
 * Tasks of one loop never run at once: a mutex is needed only where a task suspends in the middle
 * of a change that others must not see. It is handed over in the order of the requests. A task that
 * is cancelled after it was given the mutex holds it. There is no deinit: free the memory when no
 * task holds the mutex or waits for it.
 */
#ifndef EDDY_MUTEX_H
#define EDDY_MUTEX_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_task;

struct eddy_mutex {
	struct eddy_task *holder; /* read-only; NULL if unlocked */
	struct eddy_node waiters; /* private */
	unsigned loop;            /* private: the owning loop; 0 before the first use */
};

/* Make an unlocked mutex. */
EDDY_API void eddy_mutex_init(struct eddy_mutex *mutex);

/* Lock the mutex. Suspends while another task holds it. Locking it twice is a programming error.
 * Return: 0; -ECANCELED, and the caller does not hold it. */
EDDY_API int eddy_mutex_lock(struct eddy_mutex *mutex, const char *where);

/* Lock the mutex if it is unlocked, also in a cancelled scope. Never suspends. Locking it twice is
 * a programming error. Return: 0; -EBUSY if another task holds it. */
EDDY_API int eddy_mutex_try_lock(struct eddy_mutex *mutex, const char *where);

/* Unlock the mutex, which goes to the task that has waited longest. Never suspends. Only the
 * holder may call it. */
EDDY_API void eddy_mutex_unlock(struct eddy_mutex *mutex);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_mutex_unlock(struct eddy_mutex *mutex, const char *where);
#define eddy_mutex_lock(...) eddy_mutex_lock(__VA_ARGS__, EDDY_HERE)
#define eddy_mutex_try_lock(...) eddy_mutex_try_lock(__VA_ARGS__, EDDY_HERE)
#define eddy_mutex_unlock(...) eddyi_mutex_unlock(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
