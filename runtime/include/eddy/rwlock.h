/* eddy/rwlock.h: many readers or one writer, across calls that suspend.
 *
 * First come, first served: a reader that comes after a waiting writer waits behind it, so that neither
 * starves. Hence who reads already must not lock again, not even for reading. What has been handed
 * over counts, also when the task is cancelled before it runs. See eddy/mutex.h for when this is needed
 * at all.
 */
#ifndef EDDY_RWLOCK_H
#define EDDY_RWLOCK_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_task;

struct eddy_rwlock {
	struct eddy_task *writer; /* read-only; NULL when nobody writes */
	size_t readers;           /* read-only: how many read */
	struct eddy_node waiters; /* private */
	unsigned loop;            /* private: the loop that it belongs to; 0: none yet */
};

/* Make a lock that nobody holds. */
EDDY_API void eddy_rwlock_init(struct eddy_rwlock *lock);

/* Take the lock for reading. Suspends while somebody writes or waits. Return: 0, -ECANCELED. */
EDDY_API int eddy_rwlock_read_lock(struct eddy_rwlock *lock, const char *where);

/* Take the lock for reading if that needs no waiting. Never suspends. Return: 0, -EBUSY. */
EDDY_API int eddy_rwlock_try_read_lock(struct eddy_rwlock *lock, const char *where);

/* Stop reading. Never suspends. */
EDDY_API void eddy_rwlock_read_unlock(struct eddy_rwlock *lock);

/* Take the lock for writing. Suspends while somebody reads, writes or waits.
 * Return: 0, -ECANCELED. */
EDDY_API int eddy_rwlock_write_lock(struct eddy_rwlock *lock, const char *where);

/* Take the lock for writing if that needs no waiting. Never suspends. Return: 0, -EBUSY. */
EDDY_API int eddy_rwlock_try_write_lock(struct eddy_rwlock *lock, const char *where);

/* Stop writing; only the writer may. Never suspends. */
EDDY_API void eddy_rwlock_write_unlock(struct eddy_rwlock *lock);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_rwlock_read_unlock(struct eddy_rwlock *lock, const char *where);
EDDY_API void eddyi_rwlock_write_unlock(struct eddy_rwlock *lock, const char *where);
#define eddy_rwlock_read_lock(...) eddy_rwlock_read_lock(__VA_ARGS__, EDDY_HERE)
#define eddy_rwlock_try_read_lock(...) eddy_rwlock_try_read_lock(__VA_ARGS__, EDDY_HERE)
#define eddy_rwlock_read_unlock(...) eddyi_rwlock_read_unlock(__VA_ARGS__, EDDY_HERE)
#define eddy_rwlock_write_lock(...) eddy_rwlock_write_lock(__VA_ARGS__, EDDY_HERE)
#define eddy_rwlock_try_write_lock(...) eddy_rwlock_try_write_lock(__VA_ARGS__, EDDY_HERE)
#define eddy_rwlock_write_unlock(...) eddyi_rwlock_write_unlock(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
