#include <eddy/local.h>

#include "expect.h"

#include <eddy/offload.h>

static const struct eddy_local_key name = { "name" }, number = { "number" }, other = { "other" };
static int one = 1, two = 2, three = 3;

#define BIND(...)                                                                                  \
	&(struct eddy_scope_options)                                                               \
	{                                                                                          \
		.locals = EDDY_LOCALS(__VA_ARGS__)                                                 \
	}

TASK_TEST(local, innermost_binding_counts)
{
	struct eddy_scope outer, plain, inner;

	EXPECT(!eddy_local_get(&name));
	eddy_scope_begin(&outer, BIND({ &name, &one }, { &number, &two }));
	EXPECT(eddy_local_get(&name) == &one);
	EXPECT(eddy_local_get(&number) == &two);
	EXPECT(!eddy_local_get(&other));
	eddy_scope_begin(&plain, NULL);
	EXPECT(eddy_local_get(&name) == &one);
	eddy_scope_begin(&inner, BIND({ &name, &three }));
	EXPECT(eddy_local_get(&name) == &three);
	EXPECT(eddy_local_get(&number) == &two);
	EXPECT_EQ(eddy_scope_end(&inner), 0);
	EXPECT(eddy_local_get(&name) == &one);
	EXPECT_EQ(eddy_scope_end(&plain), 0);
	EXPECT_EQ(eddy_scope_end(&outer), 0);
	EXPECT(!eddy_local_get(&name));
	return 0;
}

static int sees(void *arg)
{
	struct eddy_scope scope;

	eddy_yield();
	EXPECT(eddy_local_get(&name) == arg);
	eddy_scope_begin(&scope, BIND({ &name, &scope }));
	eddy_yield();
	EXPECT(eddy_local_get(&name) == &scope);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT(eddy_local_get(&name) == arg);
	return 0;
}

TASK_TEST(local, follows_the_tasks_of_a_scope)
{
	struct eddy_scope outer, inner;

	eddy_scope_begin(&outer, BIND({ &name, &one }));
	eddy_scope_begin(&inner, BIND({ &name, &two }));
	/* A task is of its scope, wherever it was spawned. */
	eddy_scope_spawn(&outer, "sees", sees, &one);
	eddy_scope_spawn(&inner, "sees", sees, &two);
	eddy_scope_spawn(&inner, "sees", sees, &two);
	EXPECT_EQ(eddy_scope_join(&inner), 0);
	EXPECT_EQ(eddy_scope_end(&inner), 0);
	EXPECT_EQ(eddy_scope_join(&outer), 0);
	return eddy_scope_end(&outer);
}

static int seen_by_thread(void *arg)
{
	return eddy_local_get(&name) == arg;
}

static void seen_on_loop_stack(void *arg)
{
	EXPECT(eddy_local_get(&name) == arg);
}

static void seen_by_timer(struct eddy_timer *timer)
{
	EXPECT(!eddy_local_get(&name));
	timer->fire = NULL;
}

TASK_TEST(local, elsewhere)
{
	struct eddy_timer timer = { .fire = seen_by_timer };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, BIND({ &name, &one }));
	EXPECT_EQ(eddy_offload(seen_by_thread, &one), 1);
	eddy_on_loop_stack(seen_on_loop_stack, &one);
	eddy_timer_arm(&timer, 0);
	expect_turns(1);
	EXPECT(!timer.fire);
	return eddy_scope_end(&scope);
}

Test(local, outside_of_a_loop)
{
	cr_expect_null(eddy_local_get(&name));
}
