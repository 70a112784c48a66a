/* eddy/mutex.h: one task at a time, across calls that suspend.
 *
 *     r = eddy_mutex_lock(&mutex);
 *     if (r < 0)
 *             return r;
 *     …calls that suspend…
 *     eddy_mutex_unlock(&mutex);
 *
 * Tasks of one loop never run at once: a mutex is needed only where one suspends in the middle of
 * what others must not see. It is handed over in the order in which it was asked for; whoever got it
 * has it, also when cancelled before it runs. A mutex that nobody holds or waits for may be forgotten.
 */
#ifndef EDDY_MUTEX_H
#define EDDY_MUTEX_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_task;

struct eddy_mutex {
	struct eddy_task *holder; /* read-only; NULL when nobody has it */
	struct eddy_node waiters; /* private */
	unsigned loop;            /* private: the loop that it belongs to; 0: none yet */
};

/* Make a mutex that nobody holds. */
EDDY_API void eddy_mutex_init(struct eddy_mutex *mutex);

/* Take the mutex. Suspends while another task has it. The holder must not call this: a broken contract.
 * Return: 0; -ECANCELED: the mutex is not the caller's. */
EDDY_API int eddy_mutex_lock(struct eddy_mutex *mutex, const char *where);

/* Take the mutex if nobody has it, also in a cancelled scope. The holder must not call this: it panics instead of
 * returning -EBUSY. Never suspends. Return: 0, -EBUSY. */
EDDY_API int eddy_mutex_try_lock(struct eddy_mutex *mutex, const char *where);

/* Hand the mutex to the task that has waited longest. Only its holder may. Never suspends. */
EDDY_API void eddy_mutex_unlock(struct eddy_mutex *mutex);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_mutex_unlock(struct eddy_mutex *mutex, const char *where);
#define eddy_mutex_lock(...) eddy_mutex_lock(__VA_ARGS__, EDDY_HERE)
#define eddy_mutex_try_lock(...) eddy_mutex_try_lock(__VA_ARGS__, EDDY_HERE)
#define eddy_mutex_unlock(...) eddyi_mutex_unlock(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
