#include <eddy/mutex.h>

#include "expect.h"

#include <stdlib.h>
#include <string.h>

static struct eddy_mutex mutex;
static int results[8], order[8], inside, count;

/* Takes the mutex, suspends inside, and gives it back. */
static int locks(void *arg)
{
	int self = (int)(intptr_t)arg, r = eddy_mutex_lock(&mutex);

	results[self] = r;
	if (r < 0)
		return 0;
	EXPECT(mutex.holder == eddy_task_self());
	order[count++] = self;
	EXPECT_EQ(inside++, 0);
	eddy_yield();
	eddy_yield();
	inside--;
	eddy_mutex_unlock(&mutex);
	return 0;
}

TASK_TEST(mutex, one_at_a_time_in_order)
{
	struct eddy_scope scope;

	eddy_mutex_init(&mutex);
	EXPECT(!mutex.holder);
	eddy_scope_begin(&scope, NULL);
	for (intptr_t i = 0; i < 8; i++)
		eddy_scope_spawn(&scope, "locks", locks, (void *)i);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(count, 8);
	for (int i = 0; i < 8; i++) {
		EXPECT_EQ(results[i], 0);
		EXPECT_EQ(order[i], i);
	}
	EXPECT(!mutex.holder);
	return eddy_scope_end(&scope);
}

TASK_TEST(mutex, try_lock)
{
	struct eddy_scope scope;

	eddy_mutex_init(&mutex);
	EXPECT_EQ(eddy_mutex_try_lock(&mutex), 0);
	EXPECT(mutex.holder == eddy_task_self());
	eddy_mutex_unlock(&mutex);
	EXPECT(!mutex.holder);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "locks", locks, NULL);
	expect_turns(1);
	eddy_scope_spawn(&scope, "locks", locks, NULL);
	eddy_yield();
	while (mutex.holder) {
		EXPECT_EQ(eddy_mutex_try_lock(&mutex), -EBUSY);
		eddy_yield();
	}
	EXPECT_EQ(eddy_mutex_try_lock(&mutex), 0);
	eddy_mutex_unlock(&mutex);
	return eddy_scope_end(&scope);
}

/* Nobody steps in between: it is handed to the one that waits, before that has run. */
TASK_TEST(mutex, is_handed_over)
{
	struct eddy_scope scope;

	eddy_mutex_init(&mutex);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "locks", locks, NULL);
	expect_turns(1);
	eddy_mutex_unlock(&mutex);
	EXPECT(mutex.holder && mutex.holder != eddy_task_self());
	EXPECT_EQ(strcmp(eddy_task_name(mutex.holder), "locks"), 0);
	EXPECT_EQ(eddy_mutex_try_lock(&mutex), -EBUSY);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	EXPECT_EQ(count, 1);
	eddy_mutex_unlock(&mutex);
	return eddy_scope_end(&scope);
}

TASK_TEST(mutex, cancelled_waiters_are_passed_over)
{
	struct eddy_scope outer, scope;

	eddy_mutex_init(&mutex);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	eddy_scope_begin(&outer, NULL);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "locks", locks, (void *)1);
	expect_turns(1);
	eddy_scope_spawn(&outer, "locks", locks, (void *)2);
	expect_turns(1);
	eddy_scope_cancel(&scope);
	/* Before the cancelled one has run. */
	eddy_mutex_unlock(&mutex);
	EXPECT_EQ(eddy_mutex_lock(&mutex), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(eddy_scope_join(&outer), 0);
	EXPECT_EQ(results[1], -ECANCELED);
	EXPECT_EQ(results[2], 0);
	EXPECT(!mutex.holder);
	return eddy_scope_end(&outer);
}

TASK_TEST(mutex, what_was_handed_over_beats_cancellation)
{
	struct eddy_scope scope;

	eddy_mutex_init(&mutex);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "locks", locks, (void *)1);
	eddy_scope_spawn(&scope, "locks", locks, (void *)2);
	expect_turns(1);
	eddy_mutex_unlock(&mutex);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(results[1], 0);
	EXPECT_EQ(results[2], -ECANCELED);
	EXPECT(!mutex.holder);
	return 0;
}

TASK_TEST(mutex, waiters_say_what_they_wait_for)
{
	struct eddy_scope scope;
	struct eddyi_waiter *waiter;

	eddy_mutex_init(&mutex);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "locks", locks, NULL);
	expect_turns(1);
	waiter = eddy_of(scope.tasks.next->next, struct eddy_task, inside)->waiter;
	EXPECT_EQ(strcmp(waiter->what, "mutex"), 0);
	EXPECT(waiter->on == &mutex);
	eddy_mutex_unlock(&mutex);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	return eddy_scope_end(&scope);
}

/* --- many */

#define ROUNDS 3

static int crowd, last_seen, turns_taken;

static int crowded(void *arg)
{
	int self = (int)(intptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
		/* In the order in which they came, round after round. */
		EXPECT_EQ(self, turns_taken % crowd);
		last_seen = self;
		eddy_yield();
		EXPECT_EQ(last_seen, self);
		turns_taken++;
		eddy_mutex_unlock(&mutex);
	}
	return 0;
}

TASK_TEST(mutex, a_crowd_makes_progress_in_order)
{
	struct eddy_scope scope;

	crowd = IS_SLOW ? 200 : 10000;
	eddy_mutex_init(&mutex);
	eddy_scope_begin(&scope, NULL);
	for (intptr_t i = 0; i < crowd; i++)
		EXPECT_EQ(eddy_scope_spawn(&scope, "crowded", crowded, (void *)i), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(turns_taken, crowd * ROUNDS);
	return eddy_scope_end(&scope);
}
