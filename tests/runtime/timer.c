#include "expect.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/loop.h"

/* --- the heap against a model */

#define TIMERS 200

static struct eddy_timer timers[TIMERS];
static uint32_t state = 1;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % below;
}

static uint64_t nearest(void)
{
	uint64_t at = EDDY_NEVER;

	for (int i = 0; i < TIMERS; i++)
		if (eddy_timer_is_armed(&timers[i]) && timers[i].at_ns < at)
			at = timers[i].at_ns;
	return at;
}

static int count_heap(const struct eddy_timer *timer)
{
	int count = 0;

	for (; timer; timer = timer->next) {
		for (const struct eddy_timer *child = timer->child; child; child = child->next)
			cr_assert_geq(child->at_ns, timer->at_ns);
		count += 1 + count_heap(timer->child);
	}
	return count;
}

Test(timer, heap_is_like_its_model)
{
	struct eddyi_heap heap = { 0 };
	int armed = 0;

	for (int step = 0; step < 20000; step++) {
		struct eddy_timer *timer = &timers[draw(TIMERS)];
		/* Phases of growth and of shrinking; few times, so that many are equal. */
		bool grow = draw(10) < (step / 2000 % 2 ? 3 : 7);

		if (grow && !eddy_timer_is_armed(timer)) {
			timer->at_ns = draw(100);
			eddyi_heap_insert(&heap, timer);
			armed++;
		} else if (!grow && eddy_timer_is_armed(timer)) {
			eddyi_heap_remove(&heap, draw(2) ? timer : (timer = heap.top));
			cr_assert(!eddy_timer_is_armed(timer));
			armed--;
		}
		cr_assert_eq(heap.top == NULL, armed == 0);
		if (armed)
			cr_assert_eq(heap.top->at_ns, nearest());
		if (step % 500 == 0)
			cr_assert_eq(count_heap(heap.top), armed);
	}
	for (uint64_t last = 0; heap.top; last = nearest()) {
		cr_assert_geq(heap.top->at_ns, last);
		last = heap.top->at_ns;
		eddyi_heap_remove(&heap, heap.top);
		armed--;
	}
	cr_expect_eq(armed, 0);
}

/* --- timers */

static char order[64];

struct letter {
	struct eddy_timer timer;
	const char *text;
	struct letter *other;
};

static void write_letter(struct eddy_timer *timer)
{
	struct letter *letter = eddy_of(timer, struct letter, timer);

	EXPECT(!eddy_timer_is_armed(timer));
	EXPECT(!eddy_task_self());
	strcat(order, letter->text);
	if (letter->other)
		eddy_timer_disarm(&letter->other->timer);
}

TASK_TEST(timer, fires_in_order_once)
{
	struct letter a = { { .fire = write_letter }, "a", NULL };
	struct letter b = { { .fire = write_letter }, "b", NULL };
	struct letter c = { { .fire = write_letter }, "c", NULL };
	uint64_t now = eddy_now();

	eddy_timer_arm(&b.timer, now + 2 * EDDY_MS);
	eddy_timer_arm(&c.timer, now + 3 * EDDY_MS);
	eddy_timer_arm(&a.timer, 0);
	eddy_sleep(5 * EDDY_MS);
	EXPECT_EQ(strcmp(order, "abc"), 0);
	eddy_timer_disarm(&a.timer);
	return 0;
}

TASK_TEST(timer, one_disarms_another_that_is_due)
{
	struct letter b = { { .fire = write_letter }, "b", NULL };
	struct letter a = { { .fire = write_letter }, "a", &b };

	eddy_timer_arm(&a.timer, 1);
	eddy_timer_arm(&b.timer, 2);
	eddy_sleep(0);
	EXPECT_EQ(strcmp(order, "a"), 0);
	return 0;
}

/* --- timeouts */

struct entry {
	struct eddy_timeout timeout;
	const char *text;
	struct eddy_timeout_queue *arm_in; /* when it expires */
	struct entry *arm, *disarm;
	uint64_t expired_ns;
};

static struct eddy_timeout_queue queue;

static void expire(struct eddy_timeout *timeout)
{
	struct entry *entry = eddy_of(timeout, struct entry, timeout);

	strcat(order, entry->text);
	entry->expired_ns = eddy_loop_now();
	if (entry->disarm)
		eddy_timeout_disarm(&entry->disarm->timeout);
	if (entry->arm_in)
		eddy_timeout_arm(entry->arm ? &entry->arm->timeout : timeout, entry->arm_in);
}

#define ENTRY(letter)                                                                              \
	{                                                                                          \
		.timeout = { .expire = expire }, .text = letter                                    \
	}

static struct entry a = ENTRY("a"), b = ENTRY("b"), c = ENTRY("c");

/* Turn the loop's clock on, and do what it would do. */
static void pass(uint64_t ns)
{
	struct eddy_loop *loop = eddyi_loop();

	loop->now_ns += ns;
	while (loop->timers.top && loop->timers.top->at_ns <= loop->now_ns) {
		struct eddy_timer *timer = loop->timers.top;

		eddy_timer_disarm(timer);
		timer->fire(timer);
	}
}

static bool order_is(const char *wanted)
{
	return strcmp(order, wanted) == 0;
}

TASK_TEST(timer, timeouts_expire_on_the_loop)
{
	uint64_t armed = eddy_loop_now();

	eddy_timeout_queue_init(&queue, 2 * EDDY_MS);
	eddy_timeout_arm(&b.timeout, &queue);
	eddy_timeout_arm(&a.timeout, &queue);
	while (!a.expired_ns)
		eddy_sleep(EDDY_MS);
	EXPECT(order_is("ba"));
	EXPECT(b.expired_ns - armed >= 2 * EDDY_MS);
	EXPECT(!eddy_timer_is_armed(&queue.timer));
	eddy_timeout_queue_deinit(&queue);
	return 0;
}

TASK_TEST(timer, timeouts_expire_in_order)
{
	eddy_timeout_queue_init(&queue, 20 * EDDY_SECOND);
	eddy_timeout_arm(&b.timeout, &queue);
	eddy_timeout_arm(&a.timeout, &queue);
	pass(10 * EDDY_SECOND);
	eddy_timeout_arm(&c.timeout, &queue);
	EXPECT(order_is(""));
	pass(10 * EDDY_SECOND);
	EXPECT(order_is("ba"));
	pass(10 * EDDY_SECOND - 1);
	EXPECT(order_is("ba"));
	pass(1);
	EXPECT(order_is("bac"));
	pass(100 * EDDY_SECOND);
	EXPECT(order_is("bac"));
	eddy_timeout_queue_deinit(&queue);
	return 0;
}

TASK_TEST(timer, touch_starts_the_duration_again)
{
	eddy_timeout_queue_init(&queue, 20 * EDDY_SECOND);
	eddy_timeout_touch(&a.timeout);
	EXPECT(!a.timeout.node.next);
	eddy_timeout_arm(&a.timeout, &queue);
	eddy_timeout_arm(&b.timeout, &queue);
	for (int i = 0; i < 5; i++) {
		pass(15 * EDDY_SECOND);
		eddy_timeout_touch(&a.timeout);
	}
	EXPECT(order_is("b"));
	pass(20 * EDDY_SECOND - 1);
	EXPECT(order_is("b"));
	pass(1);
	EXPECT(order_is("ba"));
	eddy_timeout_queue_deinit(&queue);
	return 0;
}

TASK_TEST(timer, disarmed_timeout_does_not_expire)
{
	eddy_timeout_queue_init(&queue, EDDY_SECOND);
	eddy_timeout_arm(&a.timeout, &queue);
	eddy_timeout_arm(&b.timeout, &queue);
	eddy_timeout_disarm(&a.timeout);
	eddy_timeout_disarm(&a.timeout);
	pass(EDDY_SECOND);
	EXPECT(order_is("b"));
	eddy_timeout_queue_deinit(&queue);
	return 0;
}

TASK_TEST(timer, expiring_timeout_disarms_the_next)
{
	eddy_timeout_queue_init(&queue, EDDY_SECOND);
	a.disarm = &b;
	eddy_timeout_arm(&a.timeout, &queue);
	eddy_timeout_arm(&b.timeout, &queue);
	eddy_timeout_arm(&c.timeout, &queue);
	pass(EDDY_SECOND);
	EXPECT(order_is("ac"));
	eddy_timeout_queue_deinit(&queue);
	return 0;
}

TASK_TEST(timer, timeout_moves_to_another_queue)
{
	struct eddy_timeout_queue later;

	eddy_timeout_queue_init(&queue, EDDY_SECOND);
	eddy_timeout_queue_init(&later, 5 * EDDY_SECOND);
	eddy_timeout_arm(&a.timeout, &queue);
	eddy_timeout_arm(&b.timeout, &later);
	eddy_timeout_arm(&a.timeout, &later);
	pass(EDDY_SECOND);
	EXPECT(order_is(""));
	eddy_timeout_queue_deinit(&queue);
	pass(4 * EDDY_SECOND);
	EXPECT(order_is("ba"));
	eddy_timeout_queue_deinit(&later);
	return 0;
}

/* What arms a timeout from inside an expiry must not push back those that stand before it. */
TASK_TEST(timer, timeout_armed_by_an_expiry_leaves_the_others_their_time)
{
	eddy_timeout_queue_init(&queue, 20 * EDDY_SECOND);
	a.arm_in = &queue;
	eddy_timeout_arm(&a.timeout, &queue);
	pass(15 * EDDY_SECOND);
	eddy_timeout_arm(&b.timeout, &queue);
	pass(5 * EDDY_SECOND);
	EXPECT(order_is("a"));
	pass(15 * EDDY_SECOND);
	EXPECT(order_is("ab"));
	pass(5 * EDDY_SECOND);
	EXPECT(order_is("aba"));
	eddy_timeout_disarm(&a.timeout);
	eddy_timeout_queue_deinit(&queue);
	return 0;
}

TASK_TEST(timer, endless_durations_never_end)
{
	struct eddy_scope scope;

	eddy_timeout_queue_init(&queue, EDDY_NEVER);
	eddy_timeout_arm(&a.timeout, &queue);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_NEVER });
	EXPECT_EQ(eddy_sleep(EDDY_MS), 0);
	pass(86400 * EDDY_SECOND);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT(order_is(""));
	eddy_timeout_disarm(&a.timeout);
	eddy_timeout_queue_deinit(&queue);
	return 0;
}

static struct eddy_timer at_last, too_late;
static bool late_fired;

static void fire_late(__attribute__((unused)) struct eddy_timer *timer)
{
	late_fired = true;
}

static void arm_late(__attribute__((unused)) struct eddy_timer *timer)
{
	too_late.fire = fire_late;
	eddy_timer_arm(&too_late, eddy_loop_now() + 1);
}

static int end_with_timers(__attribute__((unused)) void *arg)
{
	at_last.fire = arm_late;
	eddy_timer_arm(&at_last, 0);
	return 0;
}

/* The first fires in the last turn, and arms the second, which is due while the loop ends its own ops. */
Test(timer, does_not_fire_once_the_loop_ends)
{
	expect_run(NULL, end_with_timers, NULL);
	cr_expect(eddy_timer_is_armed(&too_late));
	cr_expect(!late_fired);
}
