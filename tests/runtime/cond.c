#include <eddy/cond.h>

#include "expect.h"

#include <string.h>

static struct eddy_mutex mutex;
static struct eddy_cond cond;
static int results[4], order[4], count;

static int waits(void *arg)
{
	int self = (int)(intptr_t)arg;

	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	results[self] = eddy_cond_wait(&cond, &mutex);
	EXPECT(mutex.holder == eddy_task_self());
	order[count++] = self;
	eddy_mutex_unlock(&mutex);
	return 0;
}

static void begin(struct eddy_scope *scope, intptr_t waiters)
{
	eddy_mutex_init(&mutex);
	eddy_cond_init(&cond);
	eddy_scope_begin(scope, NULL);
	for (intptr_t i = 0; i < waiters; i++)
		eddy_scope_spawn(scope, "waits", waits, (void *)i);
	expect_turns(2);
	EXPECT(!mutex.holder);
	EXPECT_EQ(count, 0);
}

TASK_TEST(cond, signal_wakes_the_first_and_broadcast_all)
{
	struct eddy_scope scope;
	struct eddyi_waiter *waiter;

	begin(&scope, 4);
	waiter = eddy_of(scope.tasks.next->next, struct eddy_task, inside)->waiter;
	EXPECT_EQ(strcmp(waiter->what, "cond"), 0);
	EXPECT(waiter->on == &cond);
	eddy_cond_signal(&cond);
	expect_turns(1);
	EXPECT_EQ(count, 1);
	eddy_cond_broadcast(&cond);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(count, 4);
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(results[i], 0);
		EXPECT_EQ(order[i], i);
	}
	/* Nobody is there, and nothing is kept. */
	eddy_cond_signal(&cond);
	eddy_cond_broadcast(&cond);
	return eddy_scope_end(&scope);
}

TASK_TEST(cond, woken_ones_wait_for_the_mutex)
{
	struct eddy_scope scope;

	begin(&scope, 2);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	eddy_cond_broadcast(&cond);
	expect_turns(2);
	EXPECT_EQ(count, 0);
	eddy_mutex_unlock(&mutex);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(count, 2);
	return eddy_scope_end(&scope);
}

TASK_TEST(cond, cancelled_with_the_mutex)
{
	struct eddy_scope scope;

	begin(&scope, 2);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	/* The signal of the first is not lost; the second finds the mutex in other hands. */
	eddy_cond_signal(&cond);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_cond_wait(&cond, &mutex), -ECANCELED);
	EXPECT(mutex.holder == eddy_task_self());
	eddy_mutex_unlock(&mutex);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(results[0], 0);
	EXPECT_EQ(results[1], -ECANCELED);
	EXPECT(!mutex.holder);
	return 0;
}

static int wants_mutex(void *arg)
{
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	eddy_scope_cancel(arg);
	expect_turns(2);
	/* Who was cancelled still waits for the mutex. */
	EXPECT_EQ(count, 0);
	eddy_mutex_unlock(&mutex);
	return 0;
}

TASK_TEST(cond, taking_the_mutex_again_is_not_cancelled)
{
	struct eddy_scope outer, scope;

	eddy_scope_begin(&outer, NULL);
	begin(&scope, 1);
	eddy_scope_spawn(&outer, "wants mutex", wants_mutex, &scope);
	EXPECT_EQ(eddy_scope_join(&scope), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(results[0], -ECANCELED);
	EXPECT_EQ(eddy_scope_join(&outer), 0);
	return eddy_scope_end(&outer);
}

static int looks_at_it(void *arg)
{
	*(int *)arg = eddy_mutex_try_lock(&mutex);
	return 0;
}

/* Nobody else has had the mutex. */
TASK_TEST(cond, gives_nothing_up_in_a_cancelled_scope)
{
	struct eddy_scope scope, inner;
	int tried = 1;

	eddy_mutex_init(&mutex);
	eddy_cond_init(&cond);
	eddy_scope_begin(&scope, NULL);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	eddy_scope_spawn(&scope, "looks", looks_at_it, &tried);
	eddy_scope_begin(&inner, NULL);
	eddy_scope_cancel(&inner);
	EXPECT_EQ(eddy_cond_wait(&cond, &mutex), -ECANCELED);
	EXPECT(mutex.holder == eddy_task_self());
	EXPECT_EQ(tried, 1);
	EXPECT_EQ(eddy_scope_end(&inner), -ECANCELED);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(tried, -EBUSY);
	eddy_mutex_unlock(&mutex);
	/* Unlike a lock, a try is none of what is cancelled. */
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_mutex_try_lock(&mutex), 0);
	eddy_mutex_unlock(&mutex);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	return 0;
}
