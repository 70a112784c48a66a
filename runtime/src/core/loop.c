/* A thread's loop: access to it, its clock, and entering the kernel. The turns are in run.c. */
#include "loop.h"

#include <errno.h>
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
		eddyi_panic("io_uring_enter failed: %s", strerror(-r));
	if (r == -EAGAIN || r == -ENOMEM)
		usleep(1000);
}

void eddyi_loop_enter(struct eddy_loop *loop)
{
	eddyi_count(loop->stats.enters, 1);
	eddyi_loop_check_enter(io_uring_submit_and_get_events(&loop->ring));
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
	uint64_t one = 1;

	while (eddyi_write_now(loop->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}
