/* Tasks that wait for jobs of the offload pool. */
#include "offload_pool.h"

#include "core/loop.h"
#include "core/wait.h"

#include <errno.h>
#include <stdlib.h>

static void deliver(struct eddy_message *message)
{
	struct eddyi_job *job = eddy_of(message, struct eddyi_job, message);

	eddyi_wake(job->waiter, job->result);
}

static void call(void *arg)
{
	struct eddyi_job *job = arg;

	eddyi_in_job = true;
	job->result = job->fn(job->arg);
	eddyi_in_job = false;
}

/* If the pool has no thread. On the loop's stack, since library code may need a deep one. */
static int run_in_place(struct eddyi_job *job)
{
	eddy_on_loop_stack(call, job);
	return job->result;
}

static int wait_outside(struct eddy_loop *loop, struct eddyi_waiter *waiter)
{
	int r;

	eddyi_count(loop->outside, 1);
	r = eddyi_wait(waiter);
	eddyi_count(loop->outside, -1);
	return r;
}

struct awaited {
	struct eddyi_waiter waiter;
	struct eddyi_job job;
};

/* Only a job that has not started can be cancelled; otherwise its end wakes the task. */
static void take_back(struct eddyi_waiter *waiter)
{
	struct awaited *awaited = eddy_of(waiter, struct awaited, waiter);

	if (eddyi_offload_take_back(&awaited->job))
		eddyi_wake(waiter, -ECANCELED);
}

static int run_awaited(enum eddyi_job_kind kind, const char *what, eddy_offload_fn *fn, void *arg)
{
	struct eddy_task *task = eddyi_task_for(
		NULL, kind == EDDYI_JOB_SHORT ? "eddy_offload_short" : "eddy_offload");
	struct eddy_loop *loop = eddyi_loop();
	struct awaited awaited = {
		.waiter = { .cancel = take_back, .what = what },
		.job = {
			.message = { .deliver = deliver },
			.loop = loop,
			.waiter = &awaited.waiter,
			.kind = kind,
			.fn = fn,
			.arg = arg,
		},
	};

	if (task->scope->cancelled)
		return -ECANCELED;
	awaited.job.scope = task->scope;
	if (eddyi_offload_submit(&awaited.job) < 0)
		return run_in_place(&awaited.job);
	return wait_outside(loop, &awaited.waiter);
}

int eddy_offload(eddy_offload_fn *fn, void *arg)
{
	return run_awaited(EDDYI_JOB_LONG, "offload", fn, arg);
}

int eddy_offload_short(eddy_offload_fn *fn, void *arg)
{
	return run_awaited(EDDYI_JOB_SHORT, "short offload", fn, arg);
}

struct detached {
	struct eddyi_waiter waiter;
	struct eddyi_job *job;
	bool given_up;
	bool taken_back; /* given up before a thread took it */
};

static void give_up(struct eddyi_waiter *waiter)
{
	struct detached *detached = eddy_of(waiter, struct detached, waiter);

	detached->given_up = eddyi_offload_give_up(detached->job, &detached->taken_back);
	/* Otherwise the result is already on its way. */
	if (detached->given_up)
		eddyi_wake(waiter, -ECANCELED);
}

int eddy_offload_detached(eddy_offload_fn *fn, void *arg, void (*destroy)(void *arg))
{
	struct detached detached = { .waiter = { .cancel = give_up, .what = "offload" } };
	struct eddyi_job *job;
	int r;

	eddyi_task();
	if (eddy_is_cancelled()) {
		destroy(arg);
		return -ECANCELED;
	}
	job = malloc(sizeof(*job));
	if (!job)
		return -ENOMEM;
	*job = (struct eddyi_job){
		.message = { .deliver = deliver },
		.loop = eddyi_loop(),
		.waiter = &detached.waiter,
		.kind = EDDYI_JOB_DETACHED,
		.fn = fn,
		.arg = arg,
		.destroy = destroy,
	};
	detached.job = job;
	r = eddyi_offload_submit(job);
	if (r == -EAGAIN) {
		free(job);
		return r;
	}
	r = r == 0 ? wait_outside(eddyi_loop(), &detached.waiter) : run_in_place(job);
	if (!detached.given_up)
		eddyi_assert(r != -ECANCELED,
			     "a function of eddy_offload_detached() returned -ECANCELED");
	else if (detached.taken_back)
		destroy(arg);
	if (!detached.given_up || detached.taken_back)
		free(job);
	return r;
}
