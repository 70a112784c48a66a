#include "core/op.h"
#include "expect.h"

#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/loops.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define COUNT 4

static const struct eddy_loops_options four = { .count = COUNT };

struct seen {
	atomic_uint calls, indexes;
	struct eddy_loop *loops[COUNT];
	pthread_t threads[COUNT];
};

static int note_loop(void *arg)
{
	struct seen *seen = arg;
	unsigned index = eddy_loops_index();

	seen->calls++;
	seen->indexes |= 1u << index;
	seen->loops[index] = eddy_loop_self();
	seen->threads[index] = pthread_self();
	EXPECT_EQ(eddy_loops_count(), COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		EXPECT(eddy_loops_at(i) != NULL);
	EXPECT(eddy_loops_at(index) == eddy_loop_self());
	return index == 0 ? 7 : 0;
}

TASK_TEST(loops, run_a_function_on_each)
{
	struct seen seen = { 0 };

	EXPECT_EQ(eddy_loops_count(), 1);
	EXPECT_EQ(eddy_loops_index(), 0);
	EXPECT(eddy_loops_at(0) == eddy_loop_self());
	for (int round = 0; round < 2; round++) {
		memset(&seen, 0, sizeof(seen));
		EXPECT_EQ(eddy_loops_run(&four, note_loop, &seen), 7);
		EXPECT_EQ(seen.calls, COUNT);
		EXPECT_EQ(seen.indexes, (1u << COUNT) - 1);
		EXPECT(seen.loops[0] == eddy_loop_self());
		EXPECT(pthread_equal(seen.threads[0], pthread_self()));
		for (int i = 1; i < COUNT; i++)
			EXPECT(seen.loops[i] != seen.loops[i - 1]);
		EXPECT_EQ(eddy_loops_count(), 1);
	}
	return 0;
}

Test(loops, run_from_a_plain_thread)
{
	struct seen seen = { 0 };

	cr_expect_eq(eddy_loops_run_blocking(&four, note_loop, &seen), 7);
	cr_expect_eq(seen.calls, COUNT);
	expect_report();
}

static int count_processors(void *arg)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	if (CPU_COUNT(&set) == 1)
		atomic_fetch_add((atomic_uint *)arg, 1);
	return 0;
}

TASK_TEST(loops, are_pinned_when_asked)
{
	cpu_set_t before, after;
	atomic_uint pinned = 0;

	sched_getaffinity(0, sizeof(before), &before);
	EXPECT_EQ(eddy_loops_run(&(struct eddy_loops_options){ .count = 3, .pin = true },
				 count_processors, &pinned),
		  0);
	EXPECT_EQ(pinned, 3);
	sched_getaffinity(0, sizeof(after), &after);
	EXPECT(CPU_EQUAL(&before, &after));
	if (CPU_COUNT(&before) > 1) {
		pinned = 0;
		EXPECT_EQ(eddy_loops_run(&four, count_processors, &pinned), 0);
		EXPECT_EQ(pinned, 0);
	}
	return 0;
}

TASK_TEST(loops, as_many_as_processors_by_default)
{
	atomic_uint pinned = 0;
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	EXPECT_EQ(eddy_loops_run(&(struct eddy_loops_options){ .pin = true }, count_processors,
				 &pinned),
		  0);
	EXPECT_EQ(pinned, CPU_COUNT(&set));
	return 0;
}

TASK_TEST(loops, refuse_bad_counts)
{
	struct eddy_loops_options many = { .count = EDDY_LOOPS_MAX + 1 };
	atomic_uint calls = 0;

	EXPECT_EQ(eddy_loops_run(&many, count_processors, &calls), -EINVAL);
	EXPECT_EQ(calls, 0);
	return 0;
}

static int called(void *arg)
{
	atomic_fetch_add((atomic_uint *)arg, 1);
	return 0;
}

TASK_TEST(loops, that_cannot_be_had_are_an_error_and_nothing_runs)
{
	struct eddy_loops_options options = { .count = 3, .loop = { .stack_size = 1 } };
	atomic_uint calls = 0;

	EXPECT_EQ(eddy_loops_run(&options, called, &calls), -EINVAL);
	EXPECT_EQ(calls, 0);
	return 0;
}

static int dig_here(__attribute__((unused)) void *arg)
{
	volatile char room[2 * EDDY_MIB];

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = 1;
	return 0;
}

static int run_diggers(__attribute__((unused)) void *arg)
{
	return eddy_loops_run(&(struct eddy_loops_options){ .count = 2 }, dig_here, NULL);
}

Test(loops, have_stacks_as_large_as_the_first)
{
	expect_run(&(struct eddy_loop_options){ .stack_size = 4 * EDDY_MIB }, run_diggers, NULL);
}

/* --- ends */

static int fail_or_wait(void *arg)
{
	if (eddy_loops_index() == *(unsigned *)arg)
		return -EPROTO;
	return eddy_sleep(3600 * EDDY_SECOND);
}

TASK_TEST(loops, first_failure_cancels_the_others)
{
	for (unsigned i = 0; i < COUNT; i++)
		EXPECT_EQ(eddy_loops_run(&four, fail_or_wait, &i), -EPROTO);
	return 0;
}

struct begun {
	atomic_uint count;
	atomic_uint cancelled;
	struct eddy_event *all;
	struct eddy_message message;
};

static void all_begun(struct eddy_message *message)
{
	eddy_event_set(eddy_of(message, struct begun, message)->all);
}

static int begin_and_wait(void *arg)
{
	struct begun *begun = arg;
	int r;

	if (atomic_fetch_add(&begun->count, 1) + 1 == COUNT)
		eddy_loop_post(eddy_loops_at(0), &begun->message);
	r = eddy_sleep(3600 * EDDY_SECOND);
	begun->cancelled += r == -ECANCELED;
	return r;
}

static int run_begun(void *arg)
{
	return eddy_loops_run(&four, begin_and_wait, arg);
}

TASK_TEST(loops, are_cancelled_with_their_scope)
{
	struct eddy_event all;
	struct begun begun = { .all = &all, .message = { .deliver = all_begun } };
	struct eddy_scope scope;

	eddy_event_init(&all);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "loops", run_begun, &begun);
	EXPECT_EQ(eddy_event_wait(&all), 0);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(begun.cancelled, COUNT);
	return 0;
}

/* Who returns early stays there to be posted to. */
struct late {
	struct eddy_message message;
	atomic_bool delivered;
};

static void note_late(struct eddy_message *message)
{
	eddy_of(message, struct late, message)->delivered = true;
}

static int post_late(void *arg)
{
	struct late *late = arg;

	if (eddy_loops_index() != 1)
		return 0;
	eddy_sleep(5 * EDDY_MS);
	late->message.deliver = note_late;
	eddy_loop_post(eddy_loops_at(2), &late->message);
	while (!late->delivered)
		eddy_sleep(EDDY_MS);
	return 0;
}

TASK_TEST(loops, stay_until_all_have_returned)
{
	struct late late = { 0 };

	EXPECT_EQ(eddy_loops_run(&four, post_late, &late), 0);
	EXPECT(late.delivered);
	return 0;
}

/* --- calls */

struct question {
	struct eddy_loop *asked;
	int value;
	struct eddy_event never;
};

static int square(void *arg)
{
	struct question *question = arg;

	EXPECT(eddy_loop_self() == question->asked);
	eddy_yield();
	return question->value * question->value;
}

static int ask_everybody(__attribute__((unused)) void *arg)
{
	for (int i = 0; i < 100; i++) {
		struct question question = { .value = i,
					     .asked = eddy_loops_at((unsigned)i % COUNT) };

		EXPECT_EQ(eddy_loops_call(question.asked, "square", square, &question), i * i);
	}
	return 0;
}

TASK_TEST(loops, call_a_task_on_another)
{
	EXPECT_EQ(eddy_loops_run(&four, ask_everybody, NULL), 0);
	return 0;
}

static int wait_for_ever(void *arg)
{
	struct question *question = arg;
	int r;

	eddy_event_init(&question->never);
	r = eddy_event_wait(&question->never);
	question->value = r;
	return r;
}

static int call_with_deadline(__attribute__((unused)) void *arg)
{
	struct question question = { .value = 1 };
	struct eddy_scope scope;

	if (eddy_loops_index() != 0)
		return 0;
	for (unsigned i = 0; i < 8; i++) {
		/* A short time, and none at all: cancelled before the task has begun. */
		eddy_scope_begin(&scope,
				 &(struct eddy_scope_options){ .timeout_ns = i % 2 ? EDDY_MS : 1 });
		EXPECT_EQ(eddy_loops_call(eddy_loops_at(i % COUNT), "wait", wait_for_ever,
					  &question),
			  -ECANCELED);
		EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	}
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	question.value = 5;
	EXPECT_EQ(eddy_loops_call(eddy_loops_at(1), "wait", wait_for_ever, &question), -ECANCELED);
	EXPECT_EQ(question.value, 5);
	eddy_scope_end(&scope);
	return 0;
}

TASK_TEST(loops, cancelled_call_cancels_the_task_and_awaits_it)
{
	EXPECT_EQ(eddy_loops_run(&four, call_with_deadline, NULL), 0);
	return 0;
}

/* --- wake-ups */

struct ball {
	struct eddy_message message;
	struct eddy_event came[2];
	struct eddy_loop *loops[2];
	unsigned left;
};

static void ball_came(struct eddy_message *message)
{
	eddy_event_set(&eddy_of(message, struct ball, message)->came[eddy_loops_index()]);
}

static int play(void *arg)
{
	struct ball *ball = arg;
	unsigned me = eddy_loops_index();

	if (me == 0)
		eddy_loop_post(eddy_loops_at(1), &ball->message);
	for (int i = 0; i < 500; i++) {
		EXPECT_EQ(eddy_event_wait(&ball->came[me]), 0);
		eddy_event_clear(&ball->came[me]);
		if (me == 0 && i == 499)
			break;
		eddy_loop_post(eddy_loops_at(1 - me), &ball->message);
	}
	return 0;
}

static int play_without_ring(void *arg)
{
	eddyi_loop()->by_ring = false;
	return play(arg);
}

static void play_by(eddy_task_fn *fn)
{
	struct ball ball = { .message = { .deliver = ball_came } };

	eddy_event_init(&ball.came[0]);
	eddy_event_init(&ball.came[1]);
	EXPECT_EQ(eddy_loops_run(&(struct eddy_loops_options){ .count = 2 }, fn, &ball), 0);
}

TASK_TEST(loops, wake_each_other_by_the_ring)
{
	play_by(play);
	return 0;
}

/* Let the wake-up arrive, and another one that must not come. */
static void await_wake(struct eddy_loop *loop)
{
	for (int i = 0; i < 1000 && !loop->wake_count; i++)
		expect_turns(1);
	expect_turns(3);
}

TASK_TEST(loops, wake_up_that_fails_is_made_good)
{
	static struct eddy_loop unreachable;
	struct eddy_loop *loop = eddyi_loop();

	/* Named as this loop, at a descriptor that is none: that one is gone, others are not. */
	loop->by_ring = true;
	unreachable.id = loop->id;
	unreachable.ring.ring_fd = -1;
	loop->wake_count = 0;
	eddyi_op_wake(loop, &unreachable);
	await_wake(loop);
	EXPECT(loop->by_ring);
	EXPECT_EQ(loop->wake_count, 1);
	return 0;
}

TASK_TEST(loops, wake_up_that_is_never_possible_is_tried_once)
{
	static const int answers[] = { -ENOMEM, -EOVERFLOW, -EBADFD, -EOPNOTSUPP, -EINVAL };
	struct eddy_loop *loop = eddyi_loop();

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		loop->by_ring = true;
		loop->wake_count = 0;
		eddyi_op_complete(loop, (uint64_t)loop->id << 3 | EDDYI_OP_TAG_WAKE, answers[i], 0);
		await_wake(loop);
		EXPECT_EQ(loop->wake_count, 1);
		EXPECT_EQ(loop->by_ring, i < 3);
	}
	return 0;
}

TASK_TEST(loops, wake_each_other_without_it)
{
	play_by(play_without_ring);
	return 0;
}
