/* Tests of http/src/fanout/fanout.h. */
#include "fanout/fanout.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/list.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdlib.h>

struct reader {
	struct eddyi_receiver receiver;
	unsigned woken;
	size_t taken;
	uint64_t sum; /* of the messages, by their order */
	struct eddy_event news;
};

static unsigned freed;

/* Messages are numbers. */
static void free_number(void *message)
{
	__atomic_add_fetch(&freed, 1, __ATOMIC_RELAXED);
	free(message);
}

static struct eddyi_fanout *make_fanout(size_t kept_max)
{
	struct eddyi_fanout *fanout = eddyi_fanout_new(sizeof(*fanout), free_number);

	cr_assert_not_null(fanout);
	fanout->timeout_ns = EDDY_NEVER;
	fanout->kept_max = kept_max;
	fanout->kept_max_len = SIZE_MAX;
	freed = 0;
	return fanout;
}

static void send_number(struct eddyi_fanout *fanout, uint64_t value, size_t len)
{
	uint64_t *number = malloc(sizeof(*number));

	cr_assert_not_null(number);
	*number = value;
	pthread_mutex_lock(&fanout->lock);
	cr_assert_eq(eddyi_fanout_send(fanout, number, len), 0);
	pthread_mutex_unlock(&fanout->lock);
}

static void wake(struct eddyi_receiver *receiver)
{
	struct reader *reader = eddy_of(receiver, struct reader, receiver);
	const uint64_t *number;

	reader->woken++;
	/* Of one that is being woken it does nothing. */
	eddyi_receiver_flush(receiver);
	while ((number = eddyi_receiver_next(receiver))) {
		reader->sum = reader->sum * 31 + *number;
		reader->taken++;
		eddyi_receiver_advance(receiver, 1);
	}
	eddy_event_set(&reader->news);
}

static void begin(struct reader *reader, struct eddyi_fanout *fanout, struct eddyi_post *at)
{
	*reader = (struct reader){ .receiver.wake = wake };
	eddy_event_init(&reader->news);
	cr_assert_eq(eddyi_receiver_begin(&reader->receiver, fanout, at), 0);
}

/* ---- order, and what is kept ---- */

static int places(void *arg)
{
	struct eddyi_fanout *fanout = make_fanout(2);
	struct reader early, late, keen;

	(void)arg;
	begin(&early, fanout, NULL);
	for (uint64_t i = 1; i <= 3; i++)
		send_number(fanout, i, 10);
	begin(&late, fanout, NULL);
	begin(&keen, fanout, eddyi_post_ref(fanout->oldest));
	cr_expect_eq(fanout->count, 3);
	cr_expect_eq(eddyi_receiver_lag(&early.receiver), 30);
	cr_expect_eq(eddyi_receiver_lag(&late.receiver), 0);
	cr_expect_eq(eddyi_receiver_lag(&keen.receiver), 20);
	/* Nothing is freed that one has to take. */
	cr_expect_eq(freed, 0);
	cr_expect_eq(eddyi_fanout_held(fanout), 30);
	eddy_sleep(10 * EDDY_MS);
	cr_expect_eq(early.sum, (1 * 31 + 2) * 31 + 3);
	/* It has not been told of them. */
	cr_expect_eq(keen.taken, 0);
	eddyi_receiver_flush(&keen.receiver);
	cr_expect_eq(keen.sum, 2 * 31 + 3);
	cr_expect_eq(late.taken, 0);
	cr_expect_eq(freed, 1);
	cr_expect_eq(eddyi_fanout_held(fanout), 20);
	fanout->kept_max_len = 15;
	send_number(fanout, 4, 10);
	cr_expect_eq(fanout->kept, 1);
	eddyi_receiver_end(&early.receiver);
	eddyi_receiver_end(&late.receiver);
	eddyi_receiver_end(&keen.receiver);
	cr_expect_eq(freed, 3);
	eddyi_fanout_unref(fanout);
	/* Its message to this loop has yet to arrive. */
	cr_expect_eq(freed, 3);
	eddy_sleep(10 * EDDY_MS);
	cr_expect_eq(freed, 4);
	return 0;
}

Test(fanout, receivers_have_places)
{
	cr_expect_eq(eddy_run(NULL, places, NULL), 0);
}

static int flushes(void *arg)
{
	struct eddyi_fanout *fanout = make_fanout(0);
	struct reader one, other;

	(void)arg;
	begin(&one, fanout, NULL);
	begin(&other, fanout, NULL);
	eddyi_receiver_flush(&one.receiver);
	cr_expect_eq(one.woken, 0);
	send_number(fanout, 1, 10);
	eddyi_receiver_flush(&one.receiver);
	cr_expect_eq(one.sum, 1);
	cr_expect_eq(one.woken, 1);
	cr_expect_eq(other.woken, 0);
	/* The other one is now the first, and the furthest behind. */
	eddyi_fanout_flush(fanout, 10);
	cr_expect_eq(other.woken, 0);
	eddyi_fanout_flush(fanout, 9);
	cr_expect_eq(other.sum, 1);
	cr_expect_eq(eddyi_fanout_held(fanout), 0);
	eddyi_receiver_end(&one.receiver);
	eddyi_fanout_unref(fanout);
	eddyi_receiver_end(&other.receiver);
	cr_expect_eq(freed, 1);
	return 0;
}

Test(fanout, is_flushed)
{
	cr_expect_eq(eddy_run(NULL, flushes, NULL), 0);
}

/* ---- many ---- */

/* More than are woken at a time. */
#define MANY 600

/* Wait until all have taken so many messages, which valgrind makes slow. */
static void wait_for_all(const struct reader *readers, unsigned taken)
{
	int i = 0;

	for (int tries = 0; i < MANY && tries < 1000; tries++) {
		for (i = 0; i < MANY && readers[i].taken == taken; i++)
			;
		eddy_sleep(5 * EDDY_MS);
	}
}

static int wakes(void *arg)
{
	struct eddyi_fanout *fanout = make_fanout(0);
	static struct reader readers[MANY];

	(void)arg;
	for (int i = 0; i < MANY; i++)
		begin(&readers[i], fanout, NULL);
	for (unsigned round = 1; round <= 3; round++) {
		send_number(fanout, round, 1);
		/* A part of them. */
		eddy_event_clear(&readers[0].news);
		eddy_event_wait(&readers[0].news);
		cr_expect_eq(readers[0].woken, round);
		cr_expect_eq(readers[MANY - 1].woken, round - 1);
		wait_for_all(readers, round);
		for (int i = 0; i < MANY; i++)
			cr_expect_eq(readers[i].woken, round, "%d: %u", i, readers[i].woken);
	}
	/* The last are told of two messages at once, or of each. */
	send_number(fanout, 4, 1);
	eddy_yield();
	send_number(fanout, 5, 1);
	wait_for_all(readers, 5);
	for (int i = 0; i < MANY; i++) {
		cr_expect(readers[i].woken == 4 || readers[i].woken == 5);
		cr_expect_eq(readers[i].taken, 5);
		cr_expect_eq(readers[i].sum, readers[0].sum);
		eddyi_receiver_end(&readers[i].receiver);
	}
	eddyi_fanout_unref(fanout);
	return 0;
}

Test(fanout, each_receiver_is_woken_once)
{
	cr_expect_eq(eddy_run(NULL, wakes, NULL), 0);
}

#define SENDERS 4
#define LOOPS 3
#define EACH 2000
#define READERS 40

struct crowd {
	struct eddyi_fanout *fanout;
	uint64_t sum; /* that all get */
	unsigned ready;
};

static void *send_many(void *arg)
{
	for (uint64_t i = 0; i < EACH; i++)
		send_number(arg, i, 1);
	return NULL;
}

static int read_all(void *arg)
{
	struct reader readers[READERS];
	struct crowd *crowd = arg;
	uint64_t none = 0;

	for (int i = 0; i < READERS; i++)
		begin(&readers[i], crowd->fanout, NULL);
	__atomic_add_fetch(&crowd->ready, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < READERS; i++) {
		while (readers[i].taken < SENDERS * EACH) {
			eddy_event_clear(&readers[i].news);
			eddy_event_wait(&readers[i].news);
		}
		if (!__atomic_compare_exchange_n(&crowd->sum, &none, readers[i].sum, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			cr_expect_eq(readers[i].sum, none);
		none = 0;
		eddyi_receiver_end(&readers[i].receiver);
	}
	return 0;
}

static void *run_loop(void *arg)
{
	cr_expect_eq(eddy_run(NULL, read_all, arg), 0);
	return NULL;
}

Test(fanout, any_thread_sends_and_all_get_the_same_order)
{
	struct crowd crowd = { .fanout = make_fanout(0) };
	pthread_t senders[SENDERS], loops[LOOPS];

	for (int i = 0; i < LOOPS; i++)
		cr_assert_eq(pthread_create(&loops[i], NULL, run_loop, &crowd), 0);
	while (__atomic_load_n(&crowd.ready, __ATOMIC_ACQUIRE) < LOOPS)
		sched_yield();
	for (int i = 0; i < SENDERS; i++)
		cr_assert_eq(pthread_create(&senders[i], NULL, send_many, crowd.fanout), 0);
	for (int i = 0; i < SENDERS; i++)
		pthread_join(senders[i], NULL);
	for (int i = 0; i < LOOPS; i++)
		pthread_join(loops[i], NULL);
	cr_expect_eq(crowd.fanout->count, 0);
	cr_expect_eq(eddyi_fanout_held(crowd.fanout), 0);
	cr_expect_eq(freed, SENDERS * EACH);
	eddyi_fanout_unref(crowd.fanout);
}
