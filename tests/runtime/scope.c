#include "expect.h"

#include <eddy/dump.h>
#include <eddy/event.h>
#include <eddy/io.h>
#include <string.h>

#define LONG (60 * EDDY_SECOND)

static int return_it(void *arg)
{
	return *(int *)arg;
}

/* Sleeps until it is cancelled; yields some times before it returns, so that it unwinds slowly. */
struct sleeper {
	int woken_with, yields, started, ended;
};

static int sleep_long(void *arg)
{
	struct sleeper *sleeper = arg;

	sleeper->started++;
	sleeper->woken_with = eddy_sleep(LONG);
	for (int i = 0; i < sleeper->yields; i++) {
		struct eddy_scope shield;

		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		eddy_yield();
		eddy_scope_end(&shield);
	}
	sleeper->ended++;
	return sleeper->woken_with;
}

TASK_TEST(scope, join_waits_for_all)
{
	struct eddy_scope scope;
	int results[3] = { 0, 5, 0 };

	eddy_scope_begin(&scope, NULL);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(eddy_scope_spawn(&scope, "t", return_it, &results[i]), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(scope.running, 0);
	/* And again. */
	EXPECT_EQ(eddy_scope_spawn(&scope, "t", return_it, &results[0]), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	return 0;
}

TASK_TEST(scope, end_cancels_and_awaits_what_is_left)
{
	struct sleeper sleepers[3] = { { .yields = 3 }, { .yields = 1 }, { 0 } };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3; i++)
		eddy_scope_spawn(&scope, "sleeper", sleep_long, &sleepers[i]);
	expect_turns(1);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(sleepers[i].woken_with, -ECANCELED);
		EXPECT_EQ(sleepers[i].ended, 1);
	}
	EXPECT(!eddy_is_cancelled());
	return 0;
}

TASK_TEST(scope, first_failure_is_the_result)
{
	int results[4] = { 0, -EIO, -ENOSPC, 3 };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 4; i++)
		eddy_scope_spawn(&scope, "t", return_it, &results[i]);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT(!eddy_is_cancelled());
	EXPECT_EQ(eddy_scope_end(&scope), -EIO);
	return 0;
}

TASK_TEST(scope, fail_fast_cancels_the_others)
{
	struct sleeper sleeper = { .yields = 2 };
	int failure = -EIO;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .fail_fast = true });
	eddy_scope_spawn(&scope, "sleeper", sleep_long, &sleeper);
	eddy_scope_spawn(&scope, "fails", return_it, &failure);
	/* The host is inside the scope as well. */
	EXPECT_EQ(eddy_scope_join(&scope), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -EIO);
	EXPECT_EQ(sleeper.woken_with, -ECANCELED);
	EXPECT_EQ(sleeper.ended, 1);
	return 0;
}

TASK_TEST(scope, cancelled_tasks_are_no_failure)
{
	struct sleeper sleeper = { 0 };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sleeper", sleep_long, &sleeper);
	expect_turns(1);
	eddy_scope_cancel(&scope);
	eddy_scope_cancel(&scope);
	EXPECT(eddy_is_cancelled());
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(sleeper.woken_with, -ECANCELED);
	return 0;
}

TASK_TEST(scope, cancelled_before_the_first_run)
{
	struct sleeper sleeper = { .woken_with = 1 };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sleeper", sleep_long, &sleeper);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(sleeper.started, 1);
	EXPECT_EQ(sleeper.woken_with, -ECANCELED);
	return 0;
}

TASK_TEST(scope, nothing_starts_in_a_cancelled_one)
{
	struct sleeper sleeper = { 0 };
	struct eddy_scope scope, inner;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_spawn(&scope, "late", sleep_long, &sleeper), -ECANCELED);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	eddy_scope_begin(&inner, NULL);
	EXPECT(eddy_is_cancelled());
	EXPECT_EQ(eddy_scope_spawn(&inner, "late", sleep_long, &sleeper), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&inner), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(sleeper.started, 0);
	return 0;
}

static int cancel_it(void *arg)
{
	eddy_yield();
	eddy_scope_cancel(arg);
	return 0;
}

TASK_TEST(scope, cancelled_while_joining)
{
	struct sleeper sleeper = { .yields = 2 };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sleeper", sleep_long, &sleeper);
	eddy_scope_spawn(&scope, "canceller", cancel_it, &scope);
	EXPECT_EQ(eddy_scope_join(&scope), -ECANCELED);
	EXPECT_EQ(sleeper.ended, 0);
	EXPECT_EQ(eddy_scope_join(&scope), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(sleeper.ended, 1);
	return 0;
}

TASK_TEST(scope, outer_one_is_joined_from_within)
{
	struct sleeper sleeper = { 0 };
	struct eddy_scope outer, inner;

	eddy_scope_begin(&outer, NULL);
	eddy_scope_spawn(&outer, "sleeper", sleep_long, &sleeper);
	eddy_scope_begin(&inner, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	EXPECT_EQ(eddy_scope_join(&outer), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&inner), -ETIMEDOUT);
	EXPECT_EQ(sleeper.ended, 0);
	EXPECT(!eddy_is_cancelled());
	EXPECT_EQ(eddy_scope_end(&outer), 0);
	return 0;
}

TASK_TEST(scope, time_is_up)
{
	struct sleeper sleeper = { .yields = 1 };
	struct eddy_scope scope;
	uint64_t before = eddy_now();

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 3 * EDDY_MS });
	eddy_scope_spawn(&scope, "sleeper", sleep_long, &sleeper);
	EXPECT_EQ(eddy_sleep(LONG), -ECANCELED);
	EXPECT(eddy_now() - before >= 3 * EDDY_MS);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	EXPECT_EQ(sleeper.woken_with, -ECANCELED);
	return 0;
}

TASK_TEST(scope, ended_in_time_never_fires)
{
	struct eddy_scope scope;

	for (int i = 0; i < 5; i++) {
		eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = LONG });
		EXPECT_EQ(eddy_yield(), 0);
		EXPECT_EQ(eddy_scope_end(&scope), 0);
		EXPECT(!eddy_timer_is_armed(&scope.timer));
	}
	return 0;
}

/* Deadlines of an outer and an inner scope, and what the two end with. */
static void nest(uint64_t outer_ns, uint64_t inner_ns, int outer_result, int inner_result)
{
	struct eddy_scope outer, inner;

	eddy_scope_begin(&outer, &(struct eddy_scope_options){ .timeout_ns = outer_ns });
	eddy_scope_begin(&inner, &(struct eddy_scope_options){ .timeout_ns = inner_ns });
	EXPECT_EQ(eddy_sleep(LONG), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&inner), inner_result);
	EXPECT_EQ(eddy_yield(), outer_result ? -ECANCELED : 0);
	EXPECT_EQ(eddy_scope_end(&outer), outer_result);
}

TASK_TEST(scope, nearest_deadline_wins)
{
	nest(LONG, 2 * EDDY_MS, 0, -ETIMEDOUT);
	nest(2 * EDDY_MS, LONG, -ETIMEDOUT, -ECANCELED);
	nest(2 * EDDY_MS, 0, -ETIMEDOUT, -ECANCELED);
	return 0;
}

static int nested_sleeper(void *arg)
{
	struct eddy_scope a, b;
	int r;

	eddy_scope_begin(&a, NULL);
	eddy_scope_begin(&b, NULL);
	r = sleep_long(arg);
	EXPECT_EQ(eddy_scope_end(&b), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&a), -ECANCELED);
	return r;
}

TASK_TEST(scope, cancellation_reaches_scopes_of_other_tasks)
{
	struct sleeper sleeper = { 0 };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "nested", nested_sleeper, &sleeper);
	expect_turns(1);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT_EQ(sleeper.woken_with, -ECANCELED);
	return 0;
}

TASK_TEST(scope, shielded_one_suspends_in_peace)
{
	struct eddy_scope scope, shield, inner;
	int fds[2];
	char byte;

	stream_pair(fds);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_send(fds[0], "x", 1, 0), -ECANCELED);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	EXPECT(!eddy_is_cancelled());
	eddy_scope_begin(&inner, NULL);
	EXPECT_EQ(eddy_yield(), 0);
	EXPECT_EQ(eddy_send(fds[0], "x", 1, 0), 1);
	EXPECT_EQ(eddy_recv(fds[1], &byte, 1, 0), 1);
	EXPECT_EQ(eddy_scope_end(&inner), 0);
	EXPECT_EQ(eddy_scope_end(&shield), 0);
	EXPECT_EQ(eddy_yield(), -ECANCELED);
	EXPECT_EQ(eddy_close(fds[0]), 0);
	EXPECT_EQ(eddy_close(fds[1]), 0);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	return 0;
}

static int shielded_sleeper(void *arg)
{
	struct eddy_scope shield, inner;
	struct sleeper *sleeper = arg;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	eddy_scope_begin(&inner, NULL);
	sleeper->started = 1;
	sleeper->woken_with = eddy_sleep(EDDY_MS);
	EXPECT_EQ(eddy_scope_end(&inner), 0);
	EXPECT_EQ(eddy_scope_end(&shield), 0);
	sleeper->ended = eddy_yield();
	return 0;
}

TASK_TEST(scope, shielded_one_is_not_cancelled_from_outside)
{
	struct sleeper sleeper = { .woken_with = 1 };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "shielded", shielded_sleeper, &sleeper);
	while (!sleeper.started)
		eddy_yield();
	EXPECT_EQ(sleeper.woken_with, 1);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT_EQ(sleeper.woken_with, 0);
	EXPECT_EQ(sleeper.ended, -ECANCELED);
	return 0;
}

static int clean_up(void *arg)
{
	struct eddy_scope shield;
	struct eddy_event *released = arg;

	EXPECT_EQ(eddy_sleep(LONG), -ECANCELED);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true,
								.timeout_ns = 2 * EDDY_MS });
	/* Nobody sets it: the shield's own deadline ends the wait. */
	EXPECT_EQ(eddy_event_wait(released), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&shield), -ETIMEDOUT);
	return 0;
}

TASK_TEST(scope, shielded_clean_up_has_its_own_deadline)
{
	struct eddy_event never;
	struct eddy_scope scope;

	eddy_event_init(&never);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "cleans", clean_up, &never);
	expect_turns(1);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT(eddy_list_is_empty(&never.waiters));
	return 0;
}

struct canceller {
	struct eddy_op op;
	struct eddy_scope *scope;
	struct sleeper *sleeper;
	int spawned;
};

static void cancel_when_done(struct eddy_op *op, int result, unsigned flags)
{
	struct canceller *canceller = eddy_of(op, struct canceller, op);

	(void)result;
	(void)flags;
	if (canceller->sleeper)
		canceller->spawned = eddy_scope_spawn(canceller->scope, "from done", sleep_long,
						      canceller->sleeper);
	else
		eddy_scope_cancel(canceller->scope);
}

static void start_nop(struct canceller *canceller)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&canceller->op, cancel_when_done);

	io_uring_prep_nop(sqe);
	eddy_op_start(&canceller->op, sqe);
}

TASK_TEST(scope, cancelled_from_a_completion_function)
{
	struct sleeper sleeper = { 0 };
	struct eddy_scope scope;
	struct canceller canceller = { .scope = &scope };

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sleeper", sleep_long, &sleeper);
	start_nop(&canceller);
	EXPECT_EQ(eddy_sleep(LONG), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(sleeper.woken_with, -ECANCELED);
	return 0;
}

TASK_TEST(scope, spawned_from_a_completion_function)
{
	struct sleeper sleeper = { 0 };
	struct eddy_scope scope;
	struct canceller canceller = { .scope = &scope, .sleeper = &sleeper, .spawned = 1 };

	eddy_scope_begin(&scope, NULL);
	start_nop(&canceller);
	while (!sleeper.started)
		eddy_yield();
	EXPECT_EQ(canceller.spawned, 0);
	EXPECT_EQ(scope.running, 1);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT_EQ(sleeper.ended, 1);
	return 0;
}

/* A result that is there when the cancellation comes is returned, and the next call fails. */
struct receiver {
	int fd;
	int first, second;
	char bytes[8];
};

static int receive_twice(void *arg)
{
	struct receiver *receiver = arg;

	receiver->first = (int)eddy_recv(receiver->fd, receiver->bytes, sizeof(receiver->bytes), 0);
	receiver->second =
		(int)eddy_recv(receiver->fd, receiver->bytes, sizeof(receiver->bytes), 0);
	return 0;
}

TASK_TEST(scope, result_that_exists_wins)
{
	struct receiver receiver = { 0 };
	struct eddy_scope scope;
	int fds[2];

	stream_pair(fds);
	receiver.fd = fds[0];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "receiver", receive_twice, &receiver);
	expect_turns(2);
	EXPECT_EQ(write(fds[1], "bytes", 5), 5);
	/* The kernel completes the receive, and nobody has looked yet. */
	eddyi_loop_enter(eddyi_loop());
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(receiver.first, 5);
	EXPECT_EQ(receiver.second, -ECANCELED);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

struct sum {
	int a, b, *result;
};

static int add(void *arg)
{
	struct sum *sum = arg;

	*sum->result = sum->a + sum->b;
	return 0;
}

TASK_TEST(scope, argument_may_be_a_literal_with_commas)
{
	struct eddy_scope scope;
	int result = 0, r;

	eddy_scope_begin(&scope, NULL);
	/* Not inside a macro's braces: the literal lives as long as the block that it stands in. */
	r = eddy_scope_spawn(&scope, "add", add, &(struct sum){ 2, 3, &result });
	EXPECT_EQ(r, 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT_EQ(result, 5);
	return 0;
}

#define NESTED 20000

static int nested_cancelled(struct eddy_scope *scopes)
{
	int count = 0;

	for (int i = 0; i < NESTED; i++)
		count += scopes[i].cancelled;
	return count;
}

/* A task's stack has room for some thousand frames. */
TASK_TEST(scope, twenty_thousand_nest)
{
	struct eddy_scope *scopes = calloc(NESTED, sizeof(*scopes));
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), shield = NESTED / 2;

	for (int i = 0; i < NESTED; i++)
		eddy_scope_begin(&scopes[i], &(struct eddy_scope_options){
						     .timeout_ns = LONG,
						     .shielded = i == shield,
					     });
	EXPECT_EQ(eddy_dump(fd), 0);
	eddy_scope_cancel(&scopes[1]);
	EXPECT(!scopes[0].cancelled);
	EXPECT_EQ(nested_cancelled(scopes), shield - 1);
	EXPECT(!eddy_is_cancelled());
	eddy_scope_cancel(&scopes[shield + 1]);
	eddy_scope_cancel(&scopes[shield]);
	eddy_scope_cancel(&scopes[0]);
	EXPECT_EQ(nested_cancelled(scopes), NESTED);
	EXPECT_EQ(eddy_dump(fd), 0);
	for (int i = NESTED; i-- > 0;)
		EXPECT_EQ(eddy_scope_end(&scopes[i]), -ECANCELED);
	close(fd);
	free(scopes);
	return 0;
}

/* A tree of scopes, each begun by a task of the one around it. */
struct branch {
	int depth, *cancelled;
};

static int grow(void *arg)
{
	const struct branch *branch = arg;
	struct branch below = { branch->depth - 1, branch->cancelled };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3 && below.depth; i++)
		eddy_scope_spawn(&scope, "grow", grow, &below);
	*branch->cancelled += eddy_sleep(LONG) == -ECANCELED;
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

/* 1 + 3 + 9 + 27 of them. */
TASK_TEST(scope, a_tree_is_cancelled_to_its_last_leaf)
{
	int cancelled = 0;
	struct branch branch = { 4, &cancelled };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "grow", grow, &branch);
	expect_turns(10);
	EXPECT_EQ(cancelled, 0);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(cancelled, 40);
	return 0;
}
