#include <eddy/wait_group.h>

#include "expect.h"

#include <stdlib.h>
#include <string.h>

static int results[4], count;

static int waits(void *arg)
{
	int r = eddy_wait_group_wait(arg);

	results[count++] = r;
	return 0;
}

TASK_TEST(wait_group, waits_for_all)
{
	struct eddy_wait_group group;
	struct eddy_scope scope;
	struct eddyi_waiter *waiter;

	eddy_wait_group_init(&group);
	EXPECT_EQ(eddy_wait_group_wait(&group), 0);
	eddy_wait_group_add(&group, 3);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 2; i++)
		eddy_scope_spawn(&scope, "waits", waits, &group);
	expect_turns(1);
	waiter = eddy_of(scope.tasks.next->next, struct eddy_task, inside)->waiter;
	EXPECT_EQ(strcmp(waiter->what, "wait group"), 0);
	EXPECT(waiter->on == &group);
	eddy_wait_group_done(&group);
	eddy_wait_group_done(&group);
	expect_turns(1);
	EXPECT_EQ(count, 0);
	EXPECT_EQ(group.count, 1);
	eddy_wait_group_done(&group);
	/* That was it, also when more is to be done now. */
	eddy_wait_group_add(&group, 1);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(results[0] | results[1], 0);
	return eddy_scope_end(&scope);
}

TASK_TEST(wait_group, cancelled)
{
	struct eddy_wait_group group;
	struct eddy_scope scope;

	eddy_wait_group_init(&group);
	eddy_wait_group_add(&group, 1);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waits", waits, &group);
	expect_turns(1);
	eddy_scope_cancel(&scope);
	eddy_wait_group_done(&group);
	EXPECT_EQ(eddy_wait_group_wait(&group), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(results[0], -ECANCELED);
	return 0;
}

TASK_TEST(wait_group, done_beats_cancellation_and_the_group_may_go)
{
	struct eddy_wait_group *group = malloc(sizeof(*group));
	struct eddy_scope scope;

	eddy_wait_group_init(group);
	eddy_wait_group_add(group, 1);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 2; i++)
		eddy_scope_spawn(&scope, "waits", waits, group);
	expect_turns(1);
	eddy_wait_group_done(group);
	free(group);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(results[0] | results[1], 0);
	return 0;
}
