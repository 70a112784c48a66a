/* eddy/cond.h: wait, with a mutex given up meanwhile, until another task has changed what it guards.
 *
 *     eddy_mutex_lock(&mutex);
 *     while (!full && r == 0)
 *             r = eddy_cond_wait(&cond, &mutex);
 *     …
 *     eddy_mutex_unlock(&mutex);
 *
 * Where no mutex is needed, an event (eddy/event.h) or a channel says it shorter.
 */
#ifndef EDDY_COND_H
#define EDDY_COND_H

#include <eddy/mutex.h>

EDDY_BEGIN_DECLS

struct eddy_cond {
	struct eddy_node waiters; /* private */
	unsigned loop;            /* private: the loop that it belongs to; 0: none yet */
};

/* Make a condition that nobody waits for. */
EDDY_API void eddy_cond_init(struct eddy_cond *cond);

/* Give up the mutex, wait for a signal, and take the mutex again. Suspends; the last part is not
 * cancelled. In a scope that is cancelled already it returns at once, and no other task has had the mutex.
 * Return: 0, -ECANCELED; the caller has the mutex in both cases. */
EDDY_API int eddy_cond_wait(struct eddy_cond *cond, struct eddy_mutex *mutex, const char *where);

/* Wake the task that has waited longest. Does nothing when none waits. Never suspends. */
EDDY_API void eddy_cond_signal(struct eddy_cond *cond, const char *where);

/* Wake all who wait. Never suspends. */
EDDY_API void eddy_cond_broadcast(struct eddy_cond *cond, const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_cond_wait(...) eddy_cond_wait(__VA_ARGS__, EDDY_HERE)
#define eddy_cond_signal(...) eddy_cond_signal(__VA_ARGS__, EDDY_HERE)
#define eddy_cond_broadcast(...) eddy_cond_broadcast(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
