#include <eddy/join.h>

#include "expect.h"

#include <eddy/select.h>
#include <stdlib.h>
#include <string.h>

static int returns(void *arg)
{
	int r = eddy_yield();

	return r < 0 ? r : (int)(intptr_t)arg;
}

TASK_TEST(join, collects_results_and_failures)
{
	static const int wanted[] = { 0, 42, -EIO, -ENOENT };
	struct eddy_join joins[4];
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(eddy_scope_spawn_join(&scope, &joins[i], "returns", returns,
						(void *)(intptr_t)wanted[i]),
			  0);
	EXPECT(!joins[0].ended.is_set);
	/* In any order. */
	for (int i = 3; i >= 0; i--) {
		int result = 1;

		EXPECT_EQ(eddy_join_wait(&joins[i], &result), 0);
		EXPECT_EQ(result, wanted[i]);
	}
	EXPECT_EQ(eddy_join_wait(&joins[1], NULL), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(joins[i].result, wanted[i]);
	EXPECT(eddy_scope_end(&scope) < 0);
	return 0;
}

struct joiner {
	struct eddy_join *join;
	int r, result;
};

static int joins(void *arg)
{
	struct joiner *joiner = arg;

	joiner->r = eddy_join_wait(joiner->join, &joiner->result);
	return 0;
}

static int waits(void *arg)
{
	eddy_event_wait(arg);
	return 7;
}

TASK_TEST(join, several_wait_and_the_join_may_go)
{
	struct eddy_join *join = malloc(sizeof(*join));
	struct joiner joiners[3];
	struct eddy_event event;
	struct eddy_scope scope;
	struct eddyi_waiter *waiter;

	eddy_event_init(&event);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3; i++) {
		joiners[i] = (struct joiner){ .join = join };
		eddy_scope_spawn(&scope, "joins", joins, &joiners[i]);
	}
	EXPECT_EQ(eddy_scope_spawn_join(&scope, join, "waits", waits, &event), 0);
	expect_turns(1);
	waiter = eddy_of(scope.tasks.next->next, struct eddy_task, inside)->waiter;
	EXPECT_EQ(strcmp(waiter->what, "task"), 0);
	EXPECT(waiter->on == join);
	eddy_event_set(&event);
	EXPECT_EQ(eddy_join_wait(join, NULL), 0);
	/* Whoever waited has the result already. */
	free(join);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(joiners[i].r, 0);
		EXPECT_EQ(joiners[i].result, 7);
	}
	return 0;
}

TASK_TEST(join, cancelled_joiner)
{
	struct eddy_join join;
	struct joiner joiner = { .join = &join, .result = 1 };
	struct eddy_event event;
	struct eddy_scope outer, scope;
	int result = 1;

	eddy_event_init(&event);
	eddy_scope_begin(&outer, NULL);
	EXPECT_EQ(eddy_scope_spawn_join(&outer, &join, "waits", waits, &event), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "joins", joins, &joiner);
	expect_turns(1);
	eddy_scope_cancel(&scope);
	eddy_event_set(&event);
	EXPECT_EQ(eddy_join_wait(&join, &result), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	expect_turns(1);
	EXPECT(join.ended.is_set);
	EXPECT_EQ(joiner.r, -ECANCELED);
	EXPECT_EQ(joiner.result, 1);
	EXPECT_EQ(eddy_join_wait(&join, &result), 0);
	EXPECT_EQ(result, 7);
	return eddy_scope_end(&outer);
}

TASK_TEST(join, of_a_task_that_could_not_be_started)
{
	struct eddy_join join;
	struct eddy_scope scope;
	int result = 0;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_spawn_join(&scope, &join, "returns", returns, NULL), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(eddy_join_wait(&join, &result), 0);
	EXPECT_EQ(result, -ECANCELED);
	return 0;
}

TASK_TEST(join, in_a_select)
{
	struct eddy_join left, right;
	struct eddy_event never, now;
	struct eddy_scope scope;
	struct eddy_case cases[2];

	eddy_event_init(&never);
	eddy_event_init(&now);
	eddy_event_set(&now);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn_join(&scope, &left, "left", waits, &never);
	eddy_scope_spawn_join(&scope, &right, "right", waits, &now);
	cases[0] = eddy_case_event(&left.ended);
	cases[1] = eddy_case_event(&right.ended);
	EXPECT_EQ(eddy_select(cases, 2), 1);
	EXPECT(cases[1].ready);
	EXPECT_EQ(right.result, 7);
	return eddy_scope_end(&scope);
}

/* A task's place is used again: a join of old must not be told of it. */
TASK_TEST(join, is_of_one_task)
{
	struct eddy_join join;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn_join(&scope, &join, "returns", returns, (void *)1);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(join.result, 1);
	eddy_scope_spawn(&scope, "returns", returns, (void *)2);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(join.result, 1);
	return eddy_scope_end(&scope);
}
