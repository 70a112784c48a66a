#include <eddy/event.h>

#include "expect.h"

#include <stdlib.h>

static int results[3];
static int count;

static int wait_for(void *arg)
{
	int r = eddy_event_wait(arg);

	results[count++] = r;
	return 0;
}

TASK_TEST(event, set_wakes_all)
{
	struct eddy_event event;
	struct eddy_scope scope;

	eddy_event_init(&event);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3; i++)
		eddy_scope_spawn(&scope, "waits", wait_for, &event);
	expect_turns(3);
	EXPECT_EQ(count, 0);
	eddy_event_set(&event);
	eddy_event_set(&event);
	EXPECT_EQ(count, 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(count, 3);
	EXPECT_EQ(results[0] | results[1] | results[2], 0);
	EXPECT_EQ(eddy_event_wait(&event), 0);
	eddy_event_clear(&event);
	eddy_scope_spawn(&scope, "waits", wait_for, &event);
	count = 0;
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(results[0], -ECANCELED);
	EXPECT(eddy_list_is_empty(&event.waiters));
	return 0;
}

TASK_TEST(event, what_was_set_beats_cancellation)
{
	struct eddy_event event;
	struct eddy_scope scope;

	eddy_event_init(&event);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waits", wait_for, &event);
	expect_turns(1);
	eddy_event_set(&event);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_event_wait(&event), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(results[0], 0);
	return 0;
}

TASK_TEST(event, cancelled_waiter_is_left_alone_by_set)
{
	struct eddy_event event;
	struct eddy_scope scope;

	eddy_event_init(&event);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waits", wait_for, &event);
	expect_turns(1);
	eddy_scope_cancel(&scope);
	eddy_event_set(&event);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(results[0], -ECANCELED);
	return 0;
}

TASK_TEST(event, may_end_once_it_is_set)
{
	struct eddy_event *event = malloc(sizeof(*event));
	struct eddy_scope scope;

	eddy_event_init(event);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waits", wait_for, event);
	eddy_scope_spawn(&scope, "waits", wait_for, event);
	expect_turns(1);
	eddy_event_set(event);
	/* Before those that it woke have run. */
	event->waiters = (struct eddy_node){ 0 };
	free(event);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(count, 2);
	return eddy_scope_end(&scope);
}
