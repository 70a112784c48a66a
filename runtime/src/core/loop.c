/* A thread's loop: access to it, its clock, and entering the kernel; all loops of the process. The
 * turns are in run.c. */
#include "executor.h"
#include "loop.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>

_Thread_local struct eddy_loop *eddyi_this_loop;

bool eddyi_loop_was_forked;

_Thread_local bool eddyi_in_job;

struct eddy_loop *eddy_loop_self(void)
{
	return eddyi_this_loop;
}

static void refuse_in_job(const char *where, const char *function)
{
	if (eddyi_in_job)
		eddyi_panic_of(where, function,
			       "this call suspends or needs a loop, but is made in a job of "
			       "eddy_offload(): block there instead (sleep(3), read(2), a pthread "
			       "mutex), or make the call in the task");
}

void eddyi_loop_is_missing(const char *where, const char *function)
{
	if (eddyi_loop_was_forked)
		eddyi_panic_of(where, function,
			       "a child of fork() has no loop, as loops run in the parent only: "
			       "call exec or _exit()");
	refuse_in_job(where, function);
	eddyi_panic_of(where, function,
		       "this call needs a loop: make it in a task of eddy_main() or "
		       "eddy_run(), or in a handler");
}

void eddyi_task_is_missing(const char *where, const char *function)
{
	refuse_in_job(where, function);
	eddyi_panic_of(where, function,
		       "this call suspends or needs a task, but is made outside a task, such as "
		       "in a completion function: set an event there, or spawn a task by "
		       "eddy_scope_spawn()");
}

uint64_t eddy_now(void)
{
	return eddyi_clock(CLOCK_MONOTONIC);
}

uint64_t eddy_loop_now(void)
{
	struct eddy_loop *loop = eddyi_loop();

	if (loop->now_is_rough)
		eddyi_loop_tick(loop);
	return loop->now_ns;
}

void eddyi_loop_tick(struct eddy_loop *loop)
{
	loop->now_ns = eddy_now();
	loop->now_is_rough = false;
}

/* Abort unless the error is temporary: then entries that were not taken stay queued. */
void eddyi_loop_check_enter(int r)
{
	if (r < 0 && r != -EINTR && r != -ETIME && r != -EAGAIN && r != -EBUSY && r != -ENOMEM)
		eddyi_panic("a loop can't go on: %s failed: %s", eddyi_this_loop->executor->call,
			    strerror(-r));
	if (r == -EAGAIN || r == -ENOMEM)
		usleep(1000);
}

void eddyi_loop_enter(struct eddy_loop *loop)
{
	eddyi_count(loop->stats.enters, 1);
	eddyi_loop_check_enter(loop->executor->enter(loop));
}

void eddyi_loop_at_end(struct eddyi_at_end *at_end, void (*fn)(struct eddyi_at_end *at_end))
{
	struct eddy_loop *loop = eddyi_loop();

	at_end->fn = fn;
	at_end->next = loop->at_end;
	loop->at_end = at_end;
}

void eddyi_loop_wake(struct eddy_loop *loop)
{
	const uint64_t one = 1;
	struct eddyi_track *track = eddyi_track;

	/* Whether another loop sleeps is not recorded, and a replayed one does not. */
	eddyi_track = NULL;
	while (!eddyi_is_replay() && eddyi_write_now(loop->wake_fd, &one, sizeof(one)) < 0 &&
	       errno == EINTR)
		;
	eddyi_track = track;
}

/* ---- all loops ---- */

/* eddy-gdb.py finds the loops by it, so it keeps its name when the library is linked with LTO. */
__attribute__((used)) struct eddyi_registry {
	pthread_mutex_t lock;
	struct eddy_node loops;
	unsigned last_id;
} eddyi_registry = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.loops = { &eddyi_registry.loops, &eddyi_registry.loops },
};

void eddyi_registry_add(struct eddy_loop *loop)
{
	pthread_mutex_lock(&eddyi_registry.lock);
	loop->id = ++eddyi_registry.last_id;
	eddy_list_append(&eddyi_registry.loops, &loop->registered);
	pthread_mutex_unlock(&eddyi_registry.lock);
}

void eddyi_registry_remove(struct eddy_loop *loop)
{
	eddy_list_remove(&loop->registered);
}

void eddyi_registry_wake(unsigned id)
{
	struct eddy_node *node;

	pthread_mutex_lock(&eddyi_registry.lock);
	for (node = eddyi_registry.loops.next; node != &eddyi_registry.loops; node = node->next) {
		struct eddy_loop *loop = eddy_of(node, struct eddy_loop, registered);

		if (loop->id == id)
			eddyi_loop_wake(loop);
	}
	pthread_mutex_unlock(&eddyi_registry.lock);
}

struct eddy_node *eddyi_registry_lock(void)
{
	pthread_mutex_lock(&eddyi_registry.lock);
	return &eddyi_registry.loops;
}

void eddyi_registry_unlock(void)
{
	pthread_mutex_unlock(&eddyi_registry.lock);
}

/* A ring belongs to the thread that made it. A child shares the memory of its queues, so the
 * child's entries would be the parent's. The child's only thread therefore has no loop. */
static struct eddy_node *loops_at_fork; /* list of the locked registry */

static void lock_before_fork(void)
{
	loops_at_fork = eddyi_registry_lock();
}

static void detach_child(void)
{
	eddyi_loop_was_forked |= !eddy_list_is_empty(loops_at_fork);
	eddyi_this_loop = NULL;
	eddyi_registry_unlock();
}

static void watch_forks(void)
{
	pthread_atfork(lock_before_fork, eddyi_registry_unlock, detach_child);
}

void eddyi_fork_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
}
