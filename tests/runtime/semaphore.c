#include <eddy/semaphore.h>

#include "expect.h"
#include "sync/queue.h"

#include <string.h>

static struct eddy_semaphore semaphore;
static int results[8], order[8], count;

struct wants {
	int self;
	size_t n;
};

static int takes(void *arg)
{
	struct wants *wants = arg;

	results[wants->self] = eddy_semaphore_acquire(&semaphore, wants->n);
	if (results[wants->self] == 0)
		order[count++] = wants->self;
	return 0;
}

TASK_TEST(semaphore, first_come_first_served)
{
	struct wants wants[] = { { 0, 2 }, { 1, 3 }, { 2, 1 }, { 3, 0 }, { 4, 2 } };
	struct eddy_scope scope;

	eddy_semaphore_init(&semaphore, 2);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 5; i++)
		eddy_scope_spawn(&scope, "takes", takes, &wants[i]);
	expect_turns(1);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(semaphore.count, 0);
	/* Enough for the third, who waits behind the second. */
	eddy_semaphore_release(&semaphore, 2);
	expect_turns(1);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(semaphore.count, 2);
	EXPECT_EQ(eddy_semaphore_try_acquire(&semaphore, 1), -EAGAIN);
	eddy_semaphore_release(&semaphore, 2);
	/* Handed over at once. */
	EXPECT_EQ(semaphore.count, 0);
	expect_turns(1);
	EXPECT_EQ(count, 4);
	eddy_semaphore_release(&semaphore, 3);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(order[i], i);
	EXPECT_EQ(semaphore.count, 1);
	EXPECT_EQ(eddy_semaphore_try_acquire(&semaphore, 2), -EAGAIN);
	EXPECT_EQ(eddy_semaphore_try_acquire(&semaphore, 1), 0);
	EXPECT_EQ(semaphore.count, 0);
	return eddy_scope_end(&scope);
}

/* Nothing is released, but who wanted too much is gone. */
TASK_TEST(semaphore, cancelled_waiter_lets_others_pass)
{
	struct wants wants[] = { { 0, 5 }, { 1, 1 }, { 2, 1 }, { 3, 1 } };
	struct eddy_scope scope, inner;

	eddy_semaphore_init(&semaphore, 2);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_begin(&inner, NULL);
	eddy_scope_spawn(&inner, "takes", takes, &wants[0]);
	for (int i = 1; i < 4; i++)
		eddy_scope_spawn(&scope, "takes", takes, &wants[i]);
	expect_turns(1);
	EXPECT_EQ(count, 0);
	EXPECT_EQ(eddy_scope_end(&inner), 0);
	EXPECT_EQ(results[0], -ECANCELED);
	expect_turns(1);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(semaphore.count, 0);
	eddy_semaphore_release(&semaphore, 1);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(count, 3);
	return eddy_scope_end(&scope);
}

TASK_TEST(semaphore, what_was_handed_over_beats_cancellation)
{
	struct wants wants[] = { { 0, 1 }, { 1, 1 } };
	struct eddy_scope scope;

	eddy_semaphore_init(&semaphore, 0);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 2; i++)
		eddy_scope_spawn(&scope, "takes", takes, &wants[i]);
	expect_turns(1);
	eddy_semaphore_release(&semaphore, 1);
	eddy_scope_cancel(&scope);
	eddy_semaphore_release(&semaphore, 1);
	EXPECT_EQ(eddy_semaphore_acquire(&semaphore, 1), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(results[0], 0);
	EXPECT_EQ(results[1], -ECANCELED);
	EXPECT_EQ(semaphore.count, 1);
	return 0;
}

static size_t inside, most;

static int limited(void *arg)
{
	struct eddyi_waiter *waiter;

	(void)arg;
	EXPECT_EQ(eddy_semaphore_acquire(&semaphore, 1), 0);
	inside++;
	if (inside > most)
		most = inside;
	eddy_yield();
	if (!eddy_list_is_empty(&semaphore.waiters)) {
		waiter = eddy_of(semaphore.waiters.next, struct eddyi_entry, node)->waiter;
		EXPECT_EQ(strcmp(waiter->what, "semaphore"), 0);
		EXPECT(waiter->on == &semaphore);
	}
	inside--;
	eddy_semaphore_release(&semaphore, 1);
	return 0;
}

TASK_TEST(semaphore, at_most_so_many_at_once)
{
	struct eddy_scope scope;

	eddy_semaphore_init(&semaphore, 3);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 50; i++)
		eddy_scope_spawn(&scope, "limited", limited, NULL);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(most, 3);
	EXPECT_EQ(semaphore.count, 3);
	return eddy_scope_end(&scope);
}
