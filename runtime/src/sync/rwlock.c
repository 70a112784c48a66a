/* Invariants:
 * 1. Somebody writes, or some read, or nobody does either.
 * 2. The first who waits could not be let in. Whoever changes that (an unlock, or a cancelled wait at
 *    the front) lets in all that can be.
 */
#include <eddy/rwlock.h>

#include "core/own.h"
#include "core/queue.h"

#include <errno.h>

struct rw_waiter {
	struct eddyi_queued queued;
	struct eddy_rwlock *lock;
	bool writes;
};

void eddy_rwlock_init(struct eddy_rwlock *lock)
{
	*lock = (struct eddy_rwlock){ 0 };
	eddy_list_init(&lock->waiters);
}

static bool can_enter(const struct eddy_rwlock *lock, bool writes)
{
	return !lock->writer && !(writes && lock->readers);
}

static void enter(struct eddy_rwlock *lock, struct eddy_task *task, bool writes)
{
	if (writes)
		lock->writer = task;
	else
		lock->readers++;
}

static void let_in(struct eddy_rwlock *lock)
{
	struct eddyi_entry *entry;

	while ((entry = eddyi_queue_first(&lock->waiters))) {
		struct rw_waiter *waiter = eddy_of(entry, struct rw_waiter, queued.entry);

		if (!can_enter(lock, waiter->writes))
			return;
		enter(lock, entry->waiter->task, waiter->writes);
		eddyi_entry_serve(entry, 0);
	}
}

static void left(struct eddyi_queued *queued)
{
	let_in(eddy_of(queued, struct rw_waiter, queued)->lock);
}

static int try_lock(struct eddy_rwlock *lock, bool writes, const char *where)
{
	struct eddy_task *task;

	eddyi_own(&lock->loop, "a lock", where);
	task = eddyi_loop()->running;
	eddyi_assert(task, "a lock is taken outside of a task");
	eddyi_assert(lock->writer != task, "task \"%s\" locks what it is writing", task->name);
	if (!eddy_list_is_empty(&lock->waiters) || !can_enter(lock, writes))
		return -EBUSY;
	enter(lock, task, writes);
	return 0;
}

static int lock_or_wait(struct eddy_rwlock *lock, bool writes, const char *where)
{
	struct rw_waiter waiter = {
		.queued = {
			.waiter = {
				.cancel = eddyi_queue_cancel,
				.what = writes ? "rwlock write" : "rwlock read",
				.on = lock,
				.holder = &lock->writer,
			},
			.left = left,
		},
		.lock = lock,
		.writes = writes,
	};

	eddyi_own(&lock->loop, "a lock", where);
	if (eddy_is_cancelled())
		return -ECANCELED;
	if (try_lock(lock, writes, where) == 0)
		return 0;
	return eddyi_queue_wait(&lock->waiters, &waiter.queued);
}

int(eddy_rwlock_read_lock)(struct eddy_rwlock *lock, const char *where)
{
	return lock_or_wait(lock, false, where);
}

int(eddy_rwlock_try_read_lock)(struct eddy_rwlock *lock, const char *where)
{
	return try_lock(lock, false, where);
}

void eddyi_rwlock_read_unlock(struct eddy_rwlock *lock, const char *where)
{
	eddyi_own(&lock->loop, "a lock", where);
	eddyi_assert(lock->readers, "a lock that nobody reads is unlocked");
	lock->readers--;
	let_in(lock);
}

EDDYI_WITHOUT_WHERE(rwlock_read_unlock, struct eddy_rwlock)

int(eddy_rwlock_write_lock)(struct eddy_rwlock *lock, const char *where)
{
	return lock_or_wait(lock, true, where);
}

int(eddy_rwlock_try_write_lock)(struct eddy_rwlock *lock, const char *where)
{
	return try_lock(lock, true, where);
}

void eddyi_rwlock_write_unlock(struct eddy_rwlock *lock, const char *where)
{
	struct eddy_task *task;

	eddyi_own(&lock->loop, "a lock", where);
	task = eddyi_loop()->running;
	eddyi_assert(task && lock->writer == task,
		     "a lock is unlocked by task \"%s\", and written by \"%s\"",
		     task ? task->name : "-", lock->writer ? lock->writer->name : "-");
	lock->writer = NULL;
	let_in(lock);
}

EDDYI_WITHOUT_WHERE(rwlock_write_unlock, struct eddy_rwlock)
