#include <eddy/mutex.h>

#include "core/own.h"
#include "queue.h"

#include <errno.h>

/* Invariant: a free mutex has no waiters. */

void eddy_mutex_init(struct eddy_mutex *mutex)
{
	*mutex = (struct eddy_mutex){ 0 };
	eddy_list_init(&mutex->waiters);
}

static int try_lock(struct eddy_mutex *mutex, const char *where)
{
	struct eddy_task *task = eddyi_task_at(where);

	eddyi_assert_at(where, mutex->holder != task, "task \"%s\" locks a mutex that it holds",
			task->name);
	if (mutex->holder)
		return -EBUSY;
	mutex->holder = task;
	return 0;
}

int(eddy_mutex_try_lock)(struct eddy_mutex *mutex, const char *where)
{
	eddyi_own_made(&mutex->loop, &mutex->waiters, "a mutex", "eddy_mutex_init", where);
	return try_lock(mutex, where);
}

/* Not inlined, which keeps the path without waiting fast. */
static __attribute__((noinline)) int wait_for(struct eddy_mutex *mutex, const char *where)
{
	struct eddyi_queued queued = {
		.waiter = {
			.cancel = eddyi_queue_cancel,
			.what = "mutex",
			.on = mutex,
			.holder = &mutex->holder,
		},
	};

	return eddyi_queue_wait(&mutex->waiters, &queued, where);
}

int(eddy_mutex_lock)(struct eddy_mutex *mutex, const char *where)
{
	eddyi_own_made(&mutex->loop, &mutex->waiters, "a mutex", "eddy_mutex_init", where);
	if (eddy_is_cancelled())
		return -ECANCELED;
	return try_lock(mutex, where) == 0 ? 0 : wait_for(mutex, where);
}

void eddyi_mutex_unlock(struct eddy_mutex *mutex, const char *where)
{
	struct eddy_task *task;
	struct eddyi_entry *next;

	eddyi_own_made(&mutex->loop, &mutex->waiters, "a mutex", "eddy_mutex_init", where);
	task = eddyi_loop_at(where)->running;
	next = eddyi_queue_first(&mutex->waiters);
	eddyi_assert_at(where, task && mutex->holder == task,
			"task \"%s\" unlocks a mutex that is held by \"%s\"",
			task ? task->name : "-", mutex->holder ? mutex->holder->name : "-");
	mutex->holder = next ? next->waiter->task : NULL;
	if (next)
		eddyi_entry_serve(next, 0);
}

EDDYI_WITHOUT_WHERE(mutex_unlock, struct eddy_mutex)
