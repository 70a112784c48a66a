/* Tests of eddy_offload_detached() of eddy/offload.h. */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int detached_result(void *arg)
{
	struct slow *slow = slow_new(5);
	int r;

	(void)arg;
	if (write(slow->go[1], "x", 1) != 1)
		return -EIO;
	r = eddy_offload_detached(slow_run, slow, slow_free);
	if (atomic_load(&destroyed))
		return -EPROTO;
	r += slow->number; /* ours again */
	slow_free(slow);
	return r;
}

Test(offload_detached, a_detached_result_comes_with_its_argument)
{
	cr_expect_eq(eddy_run(NULL, detached_result, NULL), 10);
}

static int cancel_begun(void *arg)
{
	wait_until_begun(1);
	eddy_scope_cancel(arg);
	return 0;
}

static int detached_cancel(void *arg)
{
	struct eddy_scope scope;
	struct slow *slow = slow_new(5);
	int r;

	*(int *)arg = dup(slow->go[1]);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "cancel", cancel_begun, &scope);
	r = eddy_offload_detached(slow_run, slow, slow_free);
	if (r != -ECANCELED || eddy_scope_end(&scope) != -ECANCELED)
		return -EPROTO;
	return 0;
}

Test(offload_detached, a_detached_job_may_outlive_its_loop)
{
	int go = -1;

	cr_expect_eq(eddy_run(NULL, detached_cancel, &go), 0);
	cr_expect_eq(atomic_load(&destroyed), 0);
	cr_assert_eq(write(go, "x", 1), 1);
	close(go);
	for (int i = 0; i < 1000 && !atomic_load(&destroyed); i++)
		nap();
	cr_expect_eq(atomic_load(&destroyed), 1);
}

static int detached_task(void *arg)
{
	int r = eddy_offload_detached(slow_run, arg, slow_free);

	atomic_fetch_add(&ended, r == -ECANCELED);
	return 0;
}

/* Two jobs take what threads they can get, four wait. */
static int detached_queue(void *arg)
{
	struct eddy_scope scope;
	int number = 1, r;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 6; i++)
		eddy_scope_spawn(&scope, "slow", detached_task, slow_new(i));
	wait_until_begun(2);
	r = eddy_offload(add_one, &number);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	return r == 2 ? atomic_load(&destroyed) : -EPROTO;
}

Test(offload_detached, cancelled_before_a_thread_had_it)
{
	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 3 });
	cr_expect_eq(eddy_run(NULL, detached_queue, NULL), 4, "what had not begun is gone");
	cr_expect_eq(atomic_load(&ended), 6);
}

static int detached_in_cancelled_scope(void *arg)
{
	struct eddy_scope scope;
	int r;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	r = eddy_offload_detached(slow_run, slow_new(1), slow_free);
	eddy_scope_end(&scope);
	return r == -ECANCELED ? atomic_load(&destroyed) : -EPROTO;
}

Test(offload_detached, detached_in_a_cancelled_scope_does_not_run)
{
	cr_expect_eq(eddy_run(NULL, detached_in_cancelled_scope, NULL), 1);
}

/* Results and time-outs that come at the same moment: each argument is destroyed or comes back. */
static atomic_int came_back;

static int quick(void *arg)
{
	(void)arg;
	usleep(50);
	return 0;
}

static int race_task(void *arg)
{
	struct eddy_scope scope;
	struct slow *slow = slow_new(1);

	eddy_scope_begin(&scope,
			 &(struct eddy_scope_options){ .timeout_ns = (uint64_t)(uintptr_t)arg });
	if (eddy_offload_detached(quick, slow, slow_free) == 0) {
		atomic_fetch_add(&came_back, 1);
		free(memset(slow, 0, sizeof(*slow)));
	}
	eddy_scope_end(&scope);
	return 0;
}

static int race(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	for (int round = 0; round < 20; round++) {
		eddy_scope_begin(&scope, NULL);
		for (uintptr_t i = 0; i < 10; i++)
			eddy_scope_spawn(&scope, "race", race_task,
					 (void *)((i + 1) * 40 * EDDY_US));
		eddy_scope_join(&scope);
		eddy_scope_end(&scope);
	}
	return 0;
}

Test(offload_detached, results_race_with_timeouts)
{
	cr_expect_eq(eddy_run(NULL, race, NULL), 0);
	for (int i = 0; i < 1000 && atomic_load(&came_back) + atomic_load(&destroyed) < 200; i++)
		nap();
	cr_expect_eq(atomic_load(&came_back) + atomic_load(&destroyed), 200);
}
