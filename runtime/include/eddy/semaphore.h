/* eddy/semaphore.h: a counting semaphore: tasks of one loop share a number of permits.
 *
 *     r = eddy_semaphore_acquire(&connections, 1);
 *     if (r < 0)
 *             return r;
 *     …
 *     eddy_semaphore_release(&connections, 1);
 *
 * First come, first served: a request for many permits is not overtaken by smaller ones. A task
 * that is cancelled after it was given permits holds them.
 */
#ifndef EDDY_SEMAPHORE_H
#define EDDY_SEMAPHORE_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_semaphore {
	size_t count;             /* read-only: free permits */
	struct eddy_node waiters; /* private */
	unsigned loop;            /* private: the owning loop; 0 before the first use */
};

/* Make a semaphore with `count` free permits. */
EDDY_API void eddy_semaphore_init(struct eddy_semaphore *semaphore, size_t count);

/* Acquire `n` permits, all at once. Suspends while fewer are free, or others wait.
 * Return: 0; -ECANCELED, and none has been acquired. */
EDDY_API int eddy_semaphore_acquire(struct eddy_semaphore *semaphore, size_t n, const char *where);

/* Acquire `n` permits without waiting. Never suspends. Return: 0; -EAGAIN if it would wait. */
EDDY_API int eddy_semaphore_try_acquire(struct eddy_semaphore *semaphore, size_t n,
					const char *where);

/* Release `n` permits, acquired before or new. Never suspends; may be called from completion
 * functions of the same loop. */
EDDY_API void eddy_semaphore_release(struct eddy_semaphore *semaphore, size_t n, const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_semaphore_acquire(...) eddy_semaphore_acquire(__VA_ARGS__, EDDY_HERE)
#define eddy_semaphore_try_acquire(...) eddy_semaphore_try_acquire(__VA_ARGS__, EDDY_HERE)
#define eddy_semaphore_release(...) eddy_semaphore_release(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
