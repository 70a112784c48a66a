/* What happens when there is no memory, no descriptor or no thread: every path returns an error, and
 * what had been done by then is undone. */
#include "expect.h"
#include "failing.h"
#include "transfer/pipe.h"

#include <eddy/buffers.h>
#include <eddy/io.h>
#include <eddy/offload.h>
#include <stdlib.h>
#include <sys/stat.h>

static int nothing(__attribute__((unused)) void *arg)
{
	return 0;
}

/* Each allocation that starting and ending a loop makes fails in its turn. */
Test(memory, a_loop_starts_or_says_why)
{
	int before, failures = 0, r = -1;

	cr_assert_eq(eddy_run(NULL, nothing, NULL), 0);
	before = open_descriptors();
	for (int at = 1; at < 100; at++) {
		failing_at = at;
		r = eddy_run(NULL, nothing, NULL);
		if (failing_at)
			break;
		/* It does without the stack that reports of overflown stacks run on. */
		cr_expect(r == -ENOMEM || r == -EMFILE || r == 0, "%d: %d", at, r);
		cr_expect_eq(open_descriptors(), before, "%d", at);
		failures += r < 0;
	}
	failing_at = 0;
	cr_expect_eq(r, 0);
	cr_expect_geq(failures, 3);
}

static int ran;

static int count_run(__attribute__((unused)) void *arg)
{
	ran++;
	return 0;
}

TASK_TEST(memory, a_task_is_spawned_or_not)
{
	struct eddy_scope scope;
	int wanted = 0, failures = 0;

	eddy_scope_begin(&scope, NULL);
	/* A slab of stacks holds some 200: one or more are to be made, where it is allocated. */
	for (int i = 0; i < 600; i++) {
		int r;

		failing_at = 1 + i % 2;
		r = eddy_scope_spawn(&scope, "one", count_run, NULL);
		EXPECT(r == 0 || r == -ENOMEM);
		EXPECT_EQ(r == 0 || failing_at == 0, true);
		failures += r < 0;
		wanted += r == 0;
	}
	failing_at = 0;
	EXPECT_EQ(scope.running, wanted);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(ran, wanted);
	EXPECT(failures > 0);
	return eddy_scope_end(&scope);
}

static int take_pipe(int at, struct eddyi_pipe **ret_pipe)
{
	int r;

	failing_at = at;
	r = eddyi_pipe_take(ret_pipe);
	failing_at = 0;
	return r;
}

TASK_TEST(memory, a_pipe_is_had_or_not)
{
	struct eddyi_pipe *pipe = NULL;
	int before = open_descriptors();

	/* The pool; then, with a pool, the pipe; then its two ends. */
	EXPECT_EQ(take_pipe(1, &pipe), -ENOMEM);
	EXPECT_EQ(take_pipe(2, &pipe), -ENOMEM);
	EXPECT_EQ(take_pipe(2, &pipe), -EMFILE);
	EXPECT(!pipe);
	/* The pool's null device. */
	EXPECT_EQ(open_descriptors(), before + 1);
	EXPECT_EQ(take_pipe(0, &pipe), 0);
	eddyi_pipe_discard(pipe);
	EXPECT_EQ(open_descriptors(), before + 1);
	return 0;
}

TASK_TEST(memory, buffers_are_had_or_not)
{
	int failures = 0, r;

	for (int at = 1; at < 10; at++) {
		failing_at = at;
		r = eddy_buffers_prepare();
		if (r == 0)
			break;
		EXPECT_EQ(r, -ENOMEM);
		EXPECT(!eddyi_loop()->buffers);
		failures++;
	}
	failing_at = 0;
	EXPECT(failures >= 2);
	EXPECT(eddyi_loop()->buffers);
	return 0;
}

static int on_loop_thread(void *arg)
{
	return eddy_loop_self() == arg;
}

static int in_place(__attribute__((unused)) void *arg)
{
	struct eddy_loop *loop = eddyi_loop();

	/* Not even one thread: it is called here. */
	failing_at = 1;
	EXPECT_EQ(eddy_offload(on_loop_thread, loop), 1);
	EXPECT_EQ(failing_at, 0);
	EXPECT_EQ(eddy_offload(on_loop_thread, loop), 0);
	EXPECT_EQ(loop->outside, 0);
	return 0;
}

Test(memory, offload_needs_no_thread)
{
	expect_run(NULL, in_place, NULL);
}

static int destroyed;

static void destroy(void *arg)
{
	destroyed++;
	free(arg);
}

static int detached(void *arg)
{
	return *(int *)arg;
}

TASK_TEST(memory, a_detached_job_is_taken_or_not)
{
	int *number = malloc(sizeof(*number)), r;

	*number = 3;
	failing_at = 1;
	r = eddy_offload_detached(detached, number, destroy);
	EXPECT_EQ(r, -ENOMEM);
	/* The argument is still the caller's. */
	EXPECT_EQ(destroyed, 0);
	failing_at = 0;
	EXPECT_EQ(eddy_offload_detached(detached, number, destroy), 3);
	EXPECT_EQ(destroyed, 0);
	free(number);
	return 0;
}
