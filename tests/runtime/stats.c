#include "expect.h"

#include <alloca.h>
#include <eddy/internal/transfer.h>
#include <eddy/event.h>
#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/loops.h>
#include <eddy/stats.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
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

/* --- all loops */

#define LOOPS 3
#define SPAWNED 5

static int spawn_some(__attribute__((unused)) void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < SPAWNED; i++)
		eddy_scope_spawn(&scope, "nothing", nothing, NULL);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

static int three_loops(__attribute__((unused)) void *arg)
{
	struct eddy_stats before = eddy_stats(), after;

	EXPECT_EQ(before.loops, 1);
	EXPECT_EQ(before.loop.tasks, 1);
	EXPECT_EQ(eddy_loops_run(&(struct eddy_loops_options){ .count = LOOPS }, spawn_some, NULL),
		  0);
	after = eddy_stats();
	EXPECT_EQ(after.loops, 1);
	EXPECT_EQ(after.loop.tasks, 1);
	/* Those of loops that are gone are still counted: at least a root task each, too. */
	EXPECT(after.loop.tasks_spawned >= before.loop.tasks_spawned + LOOPS * (SPAWNED + 1) - 1);
	EXPECT(after.loop.turns > before.loop.turns);
	EXPECT_EQ(after.loop.ops_started - after.loop.ops_completed, after.loop.ops);
	return 0;
}

Test(stats, of_all_loops_never_go_back)
{
	struct eddy_stats one, both;

	expect_run(NULL, three_loops, NULL);
	one = eddy_stats();
	cr_assert_eq(one.loops, 0);
	cr_assert_eq(one.loop.tasks, 0);
	cr_assert_eq(one.loop.tasks_pooled, 0);
	cr_assert_eq(one.loop.ops, 0);
	cr_assert_eq(one.loop.ops_started, one.loop.ops_completed);
	expect_run(NULL, three_loops, NULL);
	both = eddy_stats();
	cr_assert(both.loop.tasks_spawned >= one.loop.tasks_spawned + LOOPS * (SPAWNED + 1));
	cr_assert(both.loop.messages >= one.loop.messages);
}

static int move_some(__attribute__((unused)) void *arg)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct eddy_stats before = eddy_stats(), after;
	struct eddy_transfer transfer = { .file = file, .len = 3000 };
	char bytes[3000] = { 0 };
	int fds[2];

	stream_pair(fds);
	transfer.socket = fds[0];
	EXPECT_EQ(eddy_transfer_write(file, bytes, sizeof(bytes), 0), 0);
	EXPECT_EQ(eddyi_transfer_read(file, bytes, 1000, 2000), 0);
	EXPECT_EQ(eddyi_transfer_read(file, bytes, 1001, 2000), -ENODATA);
	EXPECT_EQ(eddy_transfer_to_socket(&transfer), 0);
	after = eddy_stats();
	EXPECT_EQ(after.transfer.copied_in - before.transfer.copied_in, 3000);
	EXPECT_EQ(after.transfer.copied_out - before.transfer.copied_out, 2000);
	EXPECT_EQ(after.transfer.sendfile_out - before.transfer.sendfile_out, 3000);
	EXPECT_EQ(after.transfer.spliced_in, before.transfer.spliced_in);
	close(file);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

Test(stats, tell_how_bytes_of_files_went)
{
	struct eddy_stats one;

	expect_run(NULL, move_some, NULL);
	one = eddy_stats();
	cr_assert_eq(one.transfer.copied_in, 3000);
	expect_run(NULL, move_some, NULL);
	cr_assert_eq(eddy_stats().transfer.copied_in, 6000);
	cr_assert_eq(eddy_stats().transfer.sendfile_out, 6000);
}

TASK_TEST(stats, count_what_goes_to_the_kernels_workers)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct io_uring_sqe sqe = { 0 };
	uint64_t before = stats().ops_worked;
	struct statx st;

	EXPECT_EQ(eddy_write(file, "x", 1, 0), 1);
	EXPECT_EQ(eddy_sleep(1), 0);
	EXPECT_EQ(stats().ops_worked, before);
	EXPECT_EQ(eddy_fsync(file, true), 0);
	EXPECT_EQ(stats().ops_worked, before + 1);
	io_uring_prep_statx(&sqe, AT_FDCWD, "/tmp", 0, STATX_SIZE, &st);
	EXPECT_EQ(eddy_op_call(&sqe), 0);
	EXPECT_EQ(stats().ops_worked, before + 2);
	io_uring_prep_nop(&sqe);
	sqe.flags |= IOSQE_ASYNC;
	EXPECT_EQ(eddy_op_call(&sqe), 0);
	EXPECT_EQ(stats().ops_worked, before + 3);
	close(file);
	file = eddy_openat(AT_FDCWD, "/tmp", O_TMPFILE | O_RDWR, 0600);
	EXPECT(file >= 0);
	EXPECT_EQ(stats().ops_worked, before + 4);
	close(file);
	sqe = (struct io_uring_sqe){ 0 };
	io_uring_prep_openat(&sqe, AT_FDCWD, "/tmp", O_TMPFILE | O_RDWR, 0600);
	file = eddy_op_call(&sqe);
	EXPECT(file >= 0);
	EXPECT_EQ(stats().ops_worked, before + 5);
	close(file);
	io_uring_prep_openat(&sqe, AT_FDCWD, "/tmp", O_RDONLY, 0);
	file = eddy_op_call(&sqe);
	EXPECT(file >= 0);
	EXPECT_EQ(stats().ops_worked, before + 5);
	close(file);
	return 0;
}

static int wait_at_gate(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return 0;
}

static int offload_there(void *arg)
{
	return eddy_offload(wait_at_gate, arg);
}

TASK_TEST(stats, tell_what_the_pool_does)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	struct eddy_offload_stats seen;
	struct eddy_scope scope;

	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 2, .queue_max = 1 });
	EXPECT_EQ(eddy_stats().offload.threads, 0);
	pthread_mutex_lock(&gate);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 5; i++)
		eddy_scope_spawn(&scope, "job", offload_there, &gate);
	do {
		eddy_sleep(EDDY_MS);
		seen = eddy_stats().offload;
	} while (seen.running < 2);
	EXPECT_EQ(seen.threads, 2);
	EXPECT_EQ(seen.queued, 3);
	EXPECT_EQ(seen.begun, 2);
	EXPECT_EQ(seen.refused, 0);
	EXPECT_EQ(eddy_offload_detached(wait_at_gate, &gate, free), -EAGAIN);
	EXPECT_EQ(eddy_stats().offload.refused, 1);
	pthread_mutex_unlock(&gate);
	eddy_scope_join(&scope);
	EXPECT_EQ(eddy_stats().offload.begun, 5);
	EXPECT_EQ(eddy_stats().offload.queued, 0);
	return eddy_scope_end(&scope);
}
