/* jobs.h: what the tests of offload have to do on other threads. */
#ifndef EDDY_TESTS_JOBS_H
#define EDDY_TESTS_JOBS_H

#include "expect.h"

#include <eddy/offload.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static inline void nap(void)
{
	usleep(2000);
}

static inline int add_one(void *arg)
{
	nap();
	return ++*(int *)arg;
}

/* A job that ends when it is told to. */
struct slow {
	atomic_int *destroyed;
	int go[2];
	int number;
};

static atomic_int destroyed, begun, ended;

static inline struct slow *slow_new(int number)
{
	struct slow *slow = calloc(1, sizeof(*slow));

	slow->destroyed = &destroyed;
	slow->number = number;
	if (pipe(slow->go) < 0)
		abort();
	return slow;
}

static inline void slow_free(void *arg)
{
	struct slow *slow = arg;

	atomic_fetch_add(slow->destroyed, 1);
	close(slow->go[0]);
	close(slow->go[1]);
	free(slow);
}

static inline int slow_run(void *arg)
{
	struct slow *slow = arg;
	char c;

	atomic_fetch_add(&begun, 1);
	return read(slow->go[0], &c, 1) == 1 ? slow->number : -EIO;
}

/* Until so many jobs have been given a thread. */
static inline void wait_until_begun(int count)
{
	while (atomic_load(&begun) < count)
		eddy_sleep(EDDY_MS);
}

/* Hold the pool's only thread: `gate` lets go of it. */
static inline void hold_thread(struct eddy_scope *scope, eddy_task_fn *fn, struct slow *gate)
{
	int count = atomic_load(&begun);

	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 1 });
	eddy_scope_spawn(scope, "holder", fn, gate);
	wait_until_begun(count + 1);
}

static inline void let_go(struct slow *gate)
{
	if (write(gate->go[1], "x", 1) != 1)
		abort();
}

static inline int hold(void *arg)
{
	return eddy_offload(slow_run, arg);
}

/* Jobs that begin as others are cancelled: each was either called or not, and says so. */
static atomic_int called;

static inline int count_call(void *arg)
{
	(void)arg;
	usleep(30);
	return atomic_fetch_add(&called, 1) * 0;
}

#endif
