#include "expect.h"

#include <eddy/event.h>
#include <eddy/internal/loop.h>
#include <eddy/loop.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char order[256];

static int write_letter(void *arg)
{
	for (int i = 0; i < 3; i++) {
		strncat(order, arg, 1);
		eddy_yield();
	}
	return 0;
}

TASK_TEST(task, order_of_spawn_and_yield)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	EXPECT_EQ(eddy_scope_spawn(&scope, "a", write_letter, "a"), 0);
	EXPECT_EQ(eddy_scope_spawn(&scope, "b", write_letter, "b"), 0);
	EXPECT_EQ(eddy_scope_spawn(&scope, "c", write_letter, "c"), 0);
	EXPECT(!order[0]);
	strcat(order, "(");
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	strcat(order, ")");
	EXPECT_EQ(strcmp(order, "(abcabcabc)"), 0);
	return eddy_scope_end(&scope);
}

static int seven(void *arg)
{
	return *(int *)arg + 3;
}

Test(task, run_returns_what_the_root_returned)
{
	int four = 4, minus = -20;

	cr_expect_eq(eddy_run(NULL, seven, &four), 7);
	cr_expect_eq(eddy_run(NULL, seven, &minus), -17);
	cr_expect_null(eddy_loop_self());
	cr_expect_null(eddy_task_self());
}

static int name_is(void *arg)
{
	return strcmp(eddy_task_name(eddy_task_self()), arg) == 0;
}

Test(task, options_of_a_loop)
{
	cr_expect_eq(eddy_run(&(struct eddy_loop_options){ .stack_size = 1000 }, seven, NULL),
		     -EINVAL);
	cr_expect_eq(eddy_run(&(struct eddy_loop_options){ .name = "root" }, name_is, "root"), 1);
	cr_expect_eq(eddy_run(NULL, name_is, "main"), 1);
}

struct parked {
	int before, after;
	bool go;
};

static int park(void *arg)
{
	struct parked *parked = arg;
	char local[512];

	memset(local, (int)(intptr_t)parked >> 5, sizeof(local));
	parked->before++;
	while (!parked->go)
		if (eddy_sleep(EDDY_SECOND) == -ECANCELED)
			break;
	for (size_t i = 0; i < sizeof(local); i++)
		if (local[i] != (char)((int)(intptr_t)parked >> 5))
			return -EIO;
	parked->after++;
	return 0;
}

TASK_TEST(task, thousands_keep_their_locals)
{
	int count = IS_SLOW ? 500 : 5000, sum = 0;
	struct parked *parked = calloc((size_t)count, sizeof(*parked));
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < count; i++)
		EXPECT_EQ(eddy_scope_spawn(&scope, "parked", park, &parked[i]), 0);
	expect_turns(1);
	for (int i = 0; i < count; i++)
		sum += parked[i].before;
	EXPECT_EQ(sum, count);
	EXPECT_EQ(scope.running, count);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	for (int i = 0; i < count; i++)
		sum -= parked[i].after;
	EXPECT_EQ(sum, 0);
	free(parked);
	return 0;
}

static int nothing(__attribute__((unused)) void *arg)
{
	return 0;
}

static struct eddy_task *seen[64];

static int see(void *arg)
{
	seen[*(int *)arg] = eddy_task_self();
	return 0;
}

TASK_TEST(task, stacks_are_pooled)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 64; i++) {
		EXPECT_EQ(eddy_scope_spawn(&scope, "short", see, &i), 0);
		EXPECT_EQ(eddy_scope_join(&scope), 0);
		EXPECT_EQ(seen[i], seen[0]);
	}
	for (int i = 0; i < 1000; i++) {
		eddy_scope_spawn(&scope, "one", nothing, NULL);
		eddy_scope_spawn(&scope, "other", nothing, NULL);
		eddy_scope_join(&scope);
	}
	EXPECT_EQ(eddyi_loop()->stacks.used, 3);
	return eddy_scope_end(&scope);
}

/* Touch so much of the stack. */
__attribute__((noinline)) static void dig(size_t depth)
{
	char bytes[depth];

	for (size_t at = depth; at > 4096; at -= 4096)
		bytes[at - 1] = 1;
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static int go_deep(void *arg)
{
	dig(*(size_t *)arg);
	return 0;
}

static size_t resident_pages(const struct eddy_loop *loop, const struct eddy_node *pool)
{
	unsigned char pages[64];
	size_t count = 0;

	for (struct eddy_node *node = pool->next; node != pool; node = node->next) {
		mincore(eddy_of(node, struct eddy_task, queued)->low, loop->stacks.size, pages);
		for (size_t i = 0; i < loop->stacks.size / 4096; i++)
			count += pages[i] & 1;
	}
	return count;
}

static void pass_a_second(struct eddy_loop *loop)
{
	eddy_timer_disarm(&loop->trim_timer);
	loop->now_ns += 2 * EDDY_SECOND;
	while (loop->trim_timer.fire(&loop->trim_timer), eddy_timer_is_armed(&loop->trim_timer)) {
		loop->now_ns = loop->trim_timer.at_ns;
		eddy_timer_disarm(&loop->trim_timer);
	}
}

TASK_TEST(task, deep_stacks_are_trimmed_when_idle)
{
	struct eddy_loop *loop = eddyi_loop();
	size_t depth = 150 * 1024, count = 20;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < count; i++)
			eddy_scope_spawn(&scope, "deep", go_deep, &depth);
		eddy_scope_join(&scope);
		EXPECT(eddy_timer_is_armed(&loop->trim_timer));
		if (EDDYI_ASAN)
			continue;
		EXPECT(resident_pages(loop, &loop->idle) >= count * (depth / 4096));
		pass_a_second(loop);
		EXPECT(eddy_list_is_empty(&loop->idle));
		EXPECT(resident_pages(loop, &loop->trimmed) <= count * 3);
	}
	/* A task that was trimmed runs on. */
	eddy_scope_spawn(&scope, "again", go_deep, &depth);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	return eddy_scope_end(&scope);
}

/* After a burst, the memory of most stacks goes back, and they are used again. */
TASK_TEST(task, a_burst_leaves_little_memory)
{
	struct eddy_loop *loop = eddyi_loop();
	size_t depth = 16 * 1024, count = 1000, used = 0;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int again = 0; again < 3; again++) {
		for (size_t i = 0; i < count; i++)
			EXPECT_EQ(eddy_scope_spawn(&scope, "deep", go_deep, &depth), 0);
		EXPECT_EQ(eddy_scope_join(&scope), 0);
		if (!used)
			used = loop->stacks.used;
		EXPECT_EQ(loop->stacks.used, used);
		if (EDDYI_ASAN)
			continue;
		pass_a_second(loop);
		EXPECT_EQ(eddy_loop_stats(loop).tasks_pooled, 256);
		EXPECT_EQ(loop->stacks.spare_count, count - 256);
		for (size_t i = 0; i < loop->stacks.spare_count; i++)
			EXPECT_EQ(
				eddyi_stack_used(loop->stacks.spare[i],
						 (char *)loop->stacks.spare[i] + loop->stacks.size),
				0);
	}
	return eddy_scope_end(&scope);
}

/* Thousands of stacks are not given back in one go, which would hold the loop. */
TASK_TEST(task, trimming_is_done_in_portions)
{
	struct eddy_loop *loop = eddyi_loop();
	struct eddy_scope scope;
	int fires = 0;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 1000; i++)
		eddy_scope_spawn(&scope, "short", nothing, NULL);
	eddy_scope_join(&scope);
	loop->now_ns += 2 * EDDY_SECOND;
	for (; eddy_timer_is_armed(&loop->trim_timer); fires++) {
		EXPECT(fires == 0 || loop->trim_timer.at_ns > loop->now_ns);
		if (loop->now_ns < loop->trim_timer.at_ns)
			loop->now_ns = loop->trim_timer.at_ns;
		eddy_timer_disarm(&loop->trim_timer);
		loop->trim_timer.fire(&loop->trim_timer);
	}
	EXPECT_EQ(fires, 4);
	EXPECT(eddy_list_is_empty(&loop->idle));
	return eddy_scope_end(&scope);
}

TASK_TEST(task, what_is_idle_for_less_than_a_second_is_not_trimmed)
{
	struct eddy_loop *loop = eddyi_loop();
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 4; i++)
		eddy_scope_spawn(&scope, "first", nothing, NULL);
	eddy_scope_join(&scope);
	eddy_timer_disarm(&loop->trim_timer);
	loop->now_ns += EDDY_SECOND * 3 / 4;
	/* The first two of the pool are used again, the others have been idle since. */
	eddy_scope_spawn(&scope, "second", nothing, NULL);
	eddy_scope_spawn(&scope, "second", nothing, NULL);
	loop->trim_timer.fire(&loop->trim_timer);
	EXPECT(eddy_timer_is_armed(&loop->trim_timer));
	EXPECT(loop->trim_timer.at_ns > loop->now_ns);
	EXPECT(loop->trim_timer.at_ns <= loop->now_ns + EDDY_SECOND / 2);
	return eddy_scope_end(&scope);
}

static bool on_stack_of(const struct eddy_task *task, const void *address)
{
	return (const char *)address >= (const char *)task->low &&
	       (const char *)address < (const char *)task;
}

struct visit {
	struct eddy_task *task;
	bool on_task_stack, has_self;
	int count;
};

/* Not counted by a fake frame, as a sanitizer gives them to locals. */
__attribute__((noinline)) static void visit_loop_stack(void *arg)
{
	struct visit *visit = arg;

	visit->on_task_stack = on_stack_of(visit->task, __builtin_frame_address(0));
	visit->has_self = eddy_task_self();
	if (visit->count++ == 0)
		eddy_on_loop_stack(visit_loop_stack, visit);
	dig(200 * 1024);
}

TASK_TEST(task, loop_stack)
{
	struct visit visit = { .task = eddy_task_self() };

	EXPECT(on_stack_of(visit.task, __builtin_frame_address(0)));
	for (int i = 0; i < 3; i++) {
		visit.count = 0;
		visit.on_task_stack = visit.has_self = true;
		eddy_on_loop_stack(visit_loop_stack, &visit);
		EXPECT_EQ(visit.count, 2);
		EXPECT(!visit.on_task_stack);
		EXPECT(!visit.has_self);
		EXPECT_EQ(eddy_task_self(), visit.task);
		eddy_yield();
	}
	return 0;
}

static void count_up(void *arg)
{
	++*(int *)arg;
}

Test(task, loop_stack_without_a_loop)
{
	int count = 0;

	eddy_on_loop_stack(count_up, &count);
	cr_expect_eq(count, 1);
}

static int dig_on_a_big_stack(__attribute__((unused)) void *arg)
{
	dig(3 * EDDY_MIB);
	return 0;
}

Test(task, stack_size_is_an_option)
{
	expect_run(&(struct eddy_loop_options){ .stack_size = 4 * EDDY_MIB }, dig_on_a_big_stack,
		   NULL);
}

/* So far ahead that a slow machine begins all sleepers before the first wakes, and so far from each
 * other that it may take milliseconds to begin one. */
static uint64_t sleep_base;

static int sleeper(void *arg)
{
	uint64_t until = sleep_base + (uint64_t)(*(const char *)arg - '0') * 20 * EDDY_MS;
	uint64_t now = eddy_now();

	EXPECT(now < until);
	EXPECT_EQ(eddy_sleep(now < until ? until - now : 0), 0);
	EXPECT(eddy_now() >= until);
	strncat(order, arg, 1);
	return 0;
}

TASK_TEST(task, sleepers_wake_in_order_and_never_early)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	sleep_base = eddy_now() + 500 * EDDY_MS;
	for (const char *ms = "7295"; *ms; ms++)
		eddy_scope_spawn(&scope, "sleeper", sleeper, (void *)ms);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(strcmp(order, "2579"), 0);
	EXPECT(!eddyi_loop()->timers.top || eddyi_loop()->timers.top == &eddyi_loop()->trim_timer);
	return eddy_scope_end(&scope);
}

TASK_TEST(task, cancelled_scope_wakes_sleeper_and_refuses_yield)
{
	struct eddy_scope scope;
	uint64_t before = eddy_now();

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	EXPECT_EQ(eddy_sleep(EDDY_NEVER), -ECANCELED);
	EXPECT(eddy_now() - before < 10 * EDDY_SECOND);
	EXPECT_EQ(eddy_yield(), -ECANCELED);
	EXPECT_EQ(eddy_sleep(0), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	EXPECT_EQ(eddy_yield(), 0);
	EXPECT_EQ(eddy_sleep(0), 0);
	return 0;
}

static size_t pages_of_process(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long size, resident = 0;

	EXPECT_EQ(fscanf(file, "%lu %lu", &size, &resident), 2);
	fclose(file);
	return resident;
}

static int wait_for_event(void *arg)
{
	return eddy_event_wait(arg);
}

TASK_TEST(task, parked_ones_take_little_more_than_a_page)
{
	enum { COUNT = 10000 };
	size_t before = pages_of_process(), page = (size_t)sysconf(_SC_PAGESIZE);
	struct eddy_event event;
	struct eddy_scope scope;

	eddy_event_init(&event);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < (IS_SLOW ? 100 : COUNT); i++)
		EXPECT_EQ(eddy_scope_spawn(&scope, "parked", wait_for_event, &event), 0);
	EXPECT_EQ(eddy_yield(), 0);
	if (!IS_SLOW)
		EXPECT((pages_of_process() - before) * page <= COUNT * (4 * 1024 + 512));
	eddy_event_set(&event);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	return eddy_scope_end(&scope);
}

/* ---- memory of the stack ---- */

static char elsewhere[16];

struct owned {
	const char *in_task;
	bool own, of_task, other;
};

static void look_on_loop_stack(void *arg)
{
	struct owned *owned = arg;
	char here[16] = "";

	owned->own = eddyi_task_owns(here);
	owned->of_task = eddyi_task_owns(owned->in_task);
	owned->other = eddyi_task_owns(elsewhere);
}

static int look_from_another(void *arg)
{
	return eddyi_task_owns(arg);
}

/* Only memory of the task's own stack is gone when its functions return. */
TASK_TEST(task, owns_its_stack_and_no_more)
{
	char here[16] = "", *heap = malloc(100000);
	struct owned owned = { .in_task = here };
	struct eddy_scope scope;

	EXPECT(eddyi_task_owns(here));
	EXPECT(!eddyi_task_owns(elsewhere));
	EXPECT(!eddyi_task_owns(heap));
	EXPECT(!eddyi_task_owns("text"));
	EXPECT(!eddyi_task_owns(NULL));
	free(heap);
	eddy_on_loop_stack(look_on_loop_stack, &owned);
	EXPECT(owned.own && owned.of_task && !owned.other);
	/* The stack of another task, which may outlive this one. */
	eddy_scope_begin(&scope, NULL);
	EXPECT_EQ(eddy_scope_spawn(&scope, "other", look_from_another, here), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	return eddy_scope_end(&scope);
}

Test(task, owns_nothing_outside_of_a_loop)
{
	char here[16] = "";

	cr_expect(!eddyi_task_owns(here));
	cr_expect(!eddyi_task_owns(NULL));
}
