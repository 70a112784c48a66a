/* eddy/semaphore.h: a number of permits that tasks of one loop share: at most so many at once.
 *
 *     r = eddy_semaphore_acquire(&connections, 1);
 *     if (r < 0)
 *             return r;
 *     …
 *     eddy_semaphore_release(&connections, 1);
 *
 * First come, first served: who wants many is not overtaken by those who want few. What has been handed
 * over counts, also when the task is cancelled before it runs.
 */
#ifndef EDDY_SEMAPHORE_H
#define EDDY_SEMAPHORE_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_semaphore {
	size_t count;             /* read-only: permits that nobody has */
	struct eddy_node waiters; /* private */
	unsigned loop;            /* private: the loop that it belongs to; 0: none yet */
};

/* Make a semaphore with `count` permits. */
EDDY_API void eddy_semaphore_init(struct eddy_semaphore *semaphore, size_t count);

/* Take `n` permits, all at once. Suspends while there are fewer, or others wait.
 * Return: 0; -ECANCELED: none has been taken. */
EDDY_API int eddy_semaphore_acquire(struct eddy_semaphore *semaphore, size_t n, const char *where);

/* Take `n` permits if that needs no waiting. Never suspends. Return: 0, -EAGAIN. */
EDDY_API int eddy_semaphore_try_acquire(struct eddy_semaphore *semaphore, size_t n,
					const char *where);

/* Put `n` permits there, whether they were taken before or are new. Never suspends; may be called
 * from completion functions of the same loop. */
EDDY_API void eddy_semaphore_release(struct eddy_semaphore *semaphore, size_t n, const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_semaphore_acquire(...) eddy_semaphore_acquire(__VA_ARGS__, EDDY_HERE)
#define eddy_semaphore_try_acquire(...) eddy_semaphore_try_acquire(__VA_ARGS__, EDDY_HERE)
#define eddy_semaphore_release(...) eddy_semaphore_release(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
