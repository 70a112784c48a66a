#include "expect.h"

#include <alloca.h>
#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/offload.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static struct eddy_loop_stats stats(void)
{
	return eddy_loop_stats(NULL);
}

static int nothing(__attribute__((unused)) void *arg)
{
	return 0;
}

TASK_TEST(stats, count_tasks_and_turns)
{
	struct eddy_loop_stats before = stats(), after;
	struct eddy_scope scope;

	EXPECT_EQ(before.tasks, 1);
	EXPECT_EQ(before.tasks_spawned, 1);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 10; i++)
		eddy_scope_spawn(&scope, "nothing", nothing, NULL);
	EXPECT_EQ(stats().tasks, 11);
	EXPECT_EQ(stats().tasks_pooled, 0);
	eddy_scope_join(&scope);
	after = stats();
	EXPECT_EQ(after.tasks, 1);
	EXPECT_EQ(after.tasks_pooled, 10);
	EXPECT_EQ(after.tasks_spawned, 11);
	EXPECT_EQ(after.resumptions, before.resumptions + 11);
	expect_turns(5);
	EXPECT(stats().turns >= after.turns + 5);
	EXPECT(stats().enters >= after.enters + 5);
	EXPECT_EQ(stats().timers_fired, after.timers_fired + 5);
	return eddy_scope_end(&scope);
}

static void deliver(__attribute__((unused)) struct eddy_message *message)
{
}

TASK_TEST(stats, count_messages)
{
	struct eddy_message message = { .deliver = deliver };
	uint64_t before = stats().messages;

	eddy_loop_post(eddy_loop_self(), &message);
	EXPECT_EQ(stats().messages, before);
	expect_turns(2);
	EXPECT_EQ(stats().messages, before + 1);
	return 0;
}

static void done(struct eddy_op *op, int result, unsigned flags)
{
	(void)op;
	(void)result;
	(void)flags;
}

static int few_entries(__attribute__((unused)) void *arg)
{
	struct eddy_op *ops = calloc(300, sizeof(*ops));
	struct eddy_loop_stats before = stats(), after;
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < 300; i++) {
		struct io_uring_sqe *sqe = eddy_op_begin(&ops[i], done);

		io_uring_prep_poll_add(sqe, fds[0], POLLIN);
		eddy_op_start(&ops[i], sqe);
	}
	after = stats();
	EXPECT_EQ(after.ops, before.ops + 300);
	EXPECT_EQ(after.ops_started, before.ops_started + 300);
	EXPECT_EQ(after.ops_completed, before.ops_completed);
	for (int i = 0; i < 10; i++)
		eddy_op_cancel(&ops[i]);
	expect_turns(3);
	after = stats();
	EXPECT_EQ(after.ops_cancelled, before.ops_cancelled + 10);
	EXPECT_EQ(after.ops_completed, before.ops_completed + 10);
	EXPECT_EQ(after.cq_overflows, before.cq_overflows);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	expect_turns(20);
	EXPECT_EQ(stats().ops, before.ops);
	/* 300 completions for a queue of 32 that nobody looks at meanwhile. */
	for (int i = 0; i < 300; i++) {
		struct io_uring_sqe *sqe = eddy_op_begin(&ops[i], done);

		io_uring_prep_nop(sqe);
		eddy_op_start(&ops[i], sqe);
	}
	expect_turns(20);
	after = stats();
	EXPECT_EQ(after.ops, before.ops);
	EXPECT(after.cq_overflows > before.cq_overflows);
	free(ops);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

Test(stats, count_ops_and_full_queues)
{
	expect_run(&(struct eddy_loop_options){ .sq_entries = 4 }, few_entries, NULL);
}

static int read_outside(void *arg)
{
	struct eddy_loop_stats *stats = arg;

	const struct eddy_loop *loop = (struct eddy_loop *)(uintptr_t)stats->turns;

	/* The job may begin before its task is counted. */
	do
		*stats = eddy_loop_stats(loop);
	while (stats->offloaded == 0);
	return 0;
}

TASK_TEST(stats, are_read_by_other_threads)
{
	struct eddy_loop_stats seen = { .turns = (uintptr_t)eddy_loop_self() };

	EXPECT_EQ(eddy_offload(read_outside, &seen), 0);
	EXPECT_EQ(seen.tasks, 1);
	EXPECT_EQ(seen.offloaded, 1);
	EXPECT_EQ(stats().offloaded, 0);
	return 0;
}

/* --- stacks */

#define DEEP (100 * EDDY_KIB)

__attribute__((noinline)) static void touch(size_t size)
{
	char *bytes = alloca(size);

	memset(bytes, 1, size);
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

struct used {
	size_t before, after;
};

static int use_stack(void *arg)
{
	struct used *used = arg;

	used->before = eddy_task_stack_used(eddy_task_self());
	touch(DEEP);
	used->after = eddy_task_stack_used(eddy_task_self());
	return 0;
}

TASK_TEST(stats, tell_how_deep_a_stack_was_used)
{
	struct eddy_scope scope;
	struct used used;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "deep", use_stack, &used);
	eddy_scope_join(&scope);
	EXPECT(used.before > 0);
	EXPECT(used.before < 64 * EDDY_KIB);
	EXPECT(used.after >= DEEP);
	EXPECT(used.after < DEEP + 64 * EDDY_KIB);
	EXPECT_EQ(stats().stack_used_max, used.after);
	EXPECT(strncmp(stats().stack_used_by, "\"deep\" (", 8) == 0);
	EXPECT(strstr(stats().stack_used_by, "stats.c:"));
	return eddy_scope_end(&scope);
}

static int just_touch(__attribute__((unused)) void *arg)
{
	touch(DEEP);
	return 0;
}

/* Seen when the pool gives the pages back: nobody asked while the task lived. */
TASK_TEST(stats, tell_of_a_deep_stack_that_is_trimmed)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "deep", just_touch, NULL);
	eddy_scope_join(&scope);
	EXPECT_EQ(stats().stack_used_max, 0);
	/* As if a second had passed. */
	eddy_of(eddyi_loop()->idle.prev, struct eddy_task, queued)->idle_since_ns -= EDDY_SECOND;
	eddy_timer_disarm(&eddyi_loop()->trim_timer);
	eddyi_task_trim(&eddyi_loop()->trim_timer);
	EXPECT(stats().stack_used_max >= DEEP);
	EXPECT(strstr(stats().stack_used_by, "spawned at "));
	return eddy_scope_end(&scope);
}
