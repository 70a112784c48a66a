/* Invariant: the first waiter needs more than `count`. A release, or a cancelled wait at the front,
 * serves all waiters that it can. */
#include <eddy/semaphore.h>

#include "core/own.h"
#include "queue.h"

#include <errno.h>

struct semaphore_waiter {
	struct eddyi_queued queued;
	struct eddy_semaphore *semaphore;
	size_t n;
};

void eddy_semaphore_init(struct eddy_semaphore *semaphore, size_t count)
{
	*semaphore = (struct eddy_semaphore){ .count = count };
	eddy_list_init(&semaphore->waiters);
}

static void serve(struct eddy_semaphore *semaphore)
{
	struct eddyi_entry *entry;

	while ((entry = eddyi_queue_first(&semaphore->waiters))) {
		size_t n = eddy_of(entry, struct semaphore_waiter, queued.entry)->n;

		if (n > semaphore->count)
			return;
		semaphore->count -= n;
		eddyi_entry_serve(entry, 0);
	}
}

static void left(struct eddyi_queued *queued)
{
	serve(eddy_of(queued, struct semaphore_waiter, queued)->semaphore);
}

static int try_acquire(struct eddy_semaphore *semaphore, size_t n)
{
	if (!eddy_list_is_empty(&semaphore->waiters) || n > semaphore->count)
		return -EAGAIN;
	semaphore->count -= n;
	return 0;
}

int(eddy_semaphore_try_acquire)(struct eddy_semaphore *semaphore, size_t n, const char *where)
{
	eddyi_own_made(&semaphore->loop, &semaphore->waiters, "a semaphore", "eddy_semaphore_init",
		       where);
	return try_acquire(semaphore, n);
}

int(eddy_semaphore_acquire)(struct eddy_semaphore *semaphore, size_t n, const char *where)
{
	struct semaphore_waiter waiter = {
		.queued = {
			.waiter = {
				.cancel = eddyi_queue_cancel,
				.what = "semaphore",
				.on = semaphore,
			},
			.left = left,
		},
		.semaphore = semaphore,
		.n = n,
	};

	eddyi_own_made(&semaphore->loop, &semaphore->waiters, "a semaphore", "eddy_semaphore_init",
		       where);
	if (eddy_is_cancelled())
		return -ECANCELED;
	if (try_acquire(semaphore, n) == 0)
		return 0;
	return eddyi_queue_wait(&semaphore->waiters, &waiter.queued, where);
}

void(eddy_semaphore_release)(struct eddy_semaphore *semaphore, size_t n, const char *where)
{
	eddyi_own_made(&semaphore->loop, &semaphore->waiters, "a semaphore", "eddy_semaphore_init",
		       where);
	eddyi_assert_at(where, n <= SIZE_MAX - semaphore->count,
			"a semaphore overflows: too many permits were released");
	semaphore->count += n;
	serve(semaphore);
}
