#include "expect.h"

#include <eddy/loops.h>
#include <eddy/shared_event.h>
#include <pthread.h>
#include <stdatomic.h>

#define COUNT 4
#define WAITERS 25

static const struct eddy_loops_options four = { .count = COUNT };

struct crowd {
	struct eddy_shared_event event;
	atomic_uint waiting, woken;
};

static int wait_for_it(void *arg)
{
	struct crowd *crowd = arg;

	crowd->waiting++;
	EXPECT_EQ(eddy_shared_event_wait(&crowd->event), 0);
	crowd->woken++;
	return 0;
}

static int wait_in_a_crowd(void *arg)
{
	struct crowd *crowd = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < WAITERS; i++)
		EXPECT_EQ(eddy_scope_spawn(&scope, "waiter", wait_for_it, crowd), 0);
	if (eddy_loops_index() == 1) {
		while (crowd->waiting < COUNT * WAITERS)
			eddy_sleep(EDDY_MS);
		EXPECT_EQ(crowd->woken, 0);
		eddy_shared_event_set(&crowd->event);
		eddy_shared_event_set(&crowd->event);
	}
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

TASK_TEST(shared_event, wakes_tasks_of_all_loops)
{
	struct crowd crowd = { .woken = 0 };

	eddy_shared_event_init(&crowd.event);
	EXPECT_EQ(eddy_loops_run(&four, wait_in_a_crowd, &crowd), 0);
	EXPECT_EQ(crowd.woken, COUNT * WAITERS);
	/* Later waits do not wait. */
	EXPECT_EQ(eddy_shared_event_wait(&crowd.event), 0);
	return 0;
}

static void *set_it(void *arg)
{
	eddy_shared_event_set(arg);
	return NULL;
}

TASK_TEST(shared_event, is_set_by_a_plain_thread)
{
	for (int i = 0; i < 50; i++) {
		struct eddy_shared_event event;
		pthread_t thread;

		eddy_shared_event_init(&event);
		EXPECT_EQ(pthread_create(&thread, NULL, set_it, &event), 0);
		EXPECT_EQ(eddy_shared_event_wait(&event), 0);
		pthread_join(thread, NULL);
	}
	return 0;
}

static int wait_with_deadline(void *arg)
{
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	r = eddy_shared_event_wait(arg);
	EXPECT(r == 0 || r == -ECANCELED);
	eddy_scope_end(&scope);
	return r;
}

TASK_TEST(shared_event, wait_is_cancelled)
{
	struct eddy_shared_event event;
	struct eddy_scope scope;

	eddy_shared_event_init(&event);
	EXPECT_EQ(wait_with_deadline(&event), -ECANCELED);
	EXPECT(eddy_list_is_empty(&event.waiters));
	eddy_shared_event_set(&event);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_shared_event_wait(&event), -ECANCELED);
	eddy_scope_end(&scope);
	return 0;
}

struct race {
	struct eddy_shared_event event;
	int result;
};

static int wait_raced(void *arg)
{
	struct race *race = arg;

	race->result = eddy_shared_event_wait(&race->event);
	return 0;
}

TASK_TEST(shared_event, one_that_was_set_beats_the_cancellation)
{
	struct race race = { .result = 1 };
	struct eddy_scope scope;

	eddy_shared_event_init(&race.event);
	eddy_scope_begin(&scope, NULL);
	EXPECT_EQ(eddy_scope_spawn(&scope, "waiter", wait_raced, &race), 0);
	eddy_yield();
	/* The message is on its way when the cancellation comes. */
	eddy_shared_event_set(&race.event);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	EXPECT_EQ(race.result, 0);
	return 0;
}

/* Both at once, many times: neither loses a waiter nor wakes it twice. */
static int race_the_deadline(void *arg)
{
	struct race *race = arg;

	wait_with_deadline(&race->event);
	return 0;
}

TASK_TEST(shared_event, races_with_deadlines)
{
	for (int i = 0; i < 30; i++) {
		struct race race;
		struct eddy_scope scope;
		pthread_t thread;

		eddy_shared_event_init(&race.event);
		eddy_scope_begin(&scope, NULL);
		for (int j = 0; j < WAITERS; j++)
			EXPECT_EQ(eddy_scope_spawn(&scope, "racer", race_the_deadline, &race), 0);
		eddy_sleep(EDDY_MS - 20 * EDDY_US);
		EXPECT_EQ(pthread_create(&thread, NULL, set_it, &race.event), 0);
		EXPECT_EQ(eddy_scope_join(&scope), 0);
		EXPECT_EQ(eddy_scope_end(&scope), 0);
		pthread_join(thread, NULL);
	}
	return 0;
}
