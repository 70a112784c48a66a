/* Tests of trace/src/span_queue.h. */
#include "span_queue.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct eddyi_span_queue queue;

static void begin(unsigned batch_max, unsigned queue_max)
{
	eddyi_span_queue_init(&queue, EDDY_STR("<"), batch_max, queue_max);
}

static bool put(const char *span)
{
	return eddyi_span_queue_put(&queue, eddy_str_from(span));
}

/* Take the next batch, and hold it against `want`; NULL: there is none. */
static void expect_batch(const char *want)
{
	struct eddyi_span_batch *batch = eddyi_span_queue_take_now(&queue);
	struct eddy_str text = batch ? eddyi_span_batch_text(batch) : EDDY_STR("none");
	char whole[64];

	snprintf(whole, sizeof(whole), "<%s" EDDYI_OTLP_TAIL, want ? want : "");
	cr_expect(eddy_str_eq_z(text, want ? whole : "none"), "%.*s, not %s", EDDY_FMT(text),
		  whole);
	if (batch)
		eddyi_span_queue_done(&queue, batch);
}

Test(span_queue, batches_in_order)
{
	begin(2, 100);
	expect_batch(NULL);
	for (int i = 0; i < 5; i++)
		cr_assert(put((char[]){ (char)('a' + i), 0 }));
	expect_batch("a,b");
	expect_batch("c,d");
	cr_assert(put("f"));
	expect_batch("e,f");
	expect_batch(NULL);
	cr_expect(eq(uint, eddyi_span_queue_deinit(&queue), 0));
}

Test(span_queue, is_bounded_in_spans)
{
	begin(2, 3);
	for (int i = 0; i < 5; i++)
		cr_assert(eq(int, put("x"), i < 3));
	expect_batch("x,x");
	cr_assert(put("y") && put("z") && !put("n"));
	cr_expect(eq(uint, eddyi_span_queue_deinit(&queue), 3));
}

Test(span_queue, is_bounded_in_bytes)
{
	static char large[EDDYI_OTLP_SPAN_MAX + 1];
	struct eddyi_span_batch *batch;
	unsigned count = 0, taken = 0;

	memset(large, 'x', EDDYI_OTLP_SPAN_MAX);
	begin(10000, 10000);
	while (put(large))
		count++;
	cr_expect(eq(uint, count, EDDYI_QUEUE_BYTES_MAX / EDDYI_OTLP_SPAN_MAX));
	while ((batch = eddyi_span_queue_take_now(&queue))) {
		struct eddy_str text = eddyi_span_batch_text(batch);

		cr_expect(le(sz, text.len, EDDYI_BATCH_BYTES_MAX));
		cr_expect(eq(sz, text.len,
			     1 + batch->count * (EDDYI_OTLP_SPAN_MAX + 1) - 1 +
				     strlen(EDDYI_OTLP_TAIL)));
		taken += batch->count;
		eddyi_span_queue_done(&queue, batch);
	}
	cr_expect(eq(uint, taken, count));
	cr_expect(eq(sz, queue.bytes, 0));
	cr_assert(put(large));
	cr_expect(eq(uint, eddyi_span_queue_deinit(&queue), 1));
}

/* ---- waiting ---- */

/* Not before somebody waits for `what`. */
static void put_for(enum eddyi_span_awaited what)
{
	enum eddyi_span_awaited awaited;

	do {
		pthread_mutex_lock(&queue.lock);
		awaited = queue.awaited;
		pthread_mutex_unlock(&queue.lock);
	} while (awaited != what && usleep(100) == 0);
	put("t");
}

static void *put_from_a_thread(void *arg)
{
	(void)arg;
	put_for(EDDYI_AWAIT_ANY);
	put_for(EDDYI_AWAIT_FULL);
	put("t");
	put("t");
	return NULL;
}

/* One that is full comes at once, one that is not when it is old enough. */
static int take_in_time(void *arg)
{
	struct eddyi_span_batch *batch;
	uint64_t began = eddy_now();
	pthread_t thread;

	(void)arg;
	if (pthread_create(&thread, NULL, put_from_a_thread, NULL) != 0)
		return -EAGAIN;
	if (eddyi_span_queue_take(&queue, 1000 * EDDY_SECOND, &batch) < 0 || batch->count != 3)
		return -EINVAL;
	eddyi_span_queue_done(&queue, batch);
	pthread_join(thread, NULL);
	if (eddy_now() - began > 100 * EDDY_SECOND)
		return -ETIME;
	if (eddyi_span_queue_take(&queue, 20 * EDDY_MS, &batch) < 0 || batch->count != 1)
		return -EINVAL;
	if (eddy_now() - batch->began_ns < 20 * EDDY_MS)
		return -EAGAIN;
	eddyi_span_queue_done(&queue, batch);
	return 0;
}

Test(span_queue, gives_what_is_full_or_old)
{
	begin(3, 100);
	cr_expect(eq(int, eddy_run(NULL, take_in_time, NULL), 0));
	cr_expect(eq(uint, eddyi_span_queue_deinit(&queue), 0));
}

static int take_cancelled(void *arg)
{
	struct eddyi_span_batch *batch = NULL;
	struct eddy_scope scope;
	int r;

	(void)arg;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	r = eddyi_span_queue_take(&queue, EDDY_SECOND, &batch);
	eddy_scope_end(&scope);
	if (r != -ECANCELED || batch)
		return -EINVAL;
	put("late");
	return 0;
}

Test(span_queue, waits_no_longer_than_its_task)
{
	begin(3, 100);
	cr_expect(eq(int, eddy_run(NULL, take_cancelled, NULL), 0));
	expect_batch("late");
	cr_expect(eq(uint, eddyi_span_queue_deinit(&queue), 0));
}

/* ---- many threads ---- */

enum { THREADS = 3, EACH = 3000 };

static void *put_many(void *arg)
{
	unsigned *lost = arg;

	for (int i = 0; i < EACH; i++)
		*lost += !put("0123456789");
	return NULL;
}

static int take_many(void *arg)
{
	unsigned lost[THREADS] = { 0 }, count = 0, all_lost = 0;
	struct eddyi_span_batch *batch;
	pthread_t threads[THREADS];

	(void)arg;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, put_many, &lost[i]) != 0)
			return -EAGAIN;
	while (count < 200 && eddyi_span_queue_take(&queue, EDDY_MS, &batch) == 0) {
		count += batch->count;
		eddyi_span_queue_done(&queue, batch);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	while ((batch = eddyi_span_queue_take_now(&queue))) {
		count += batch->count;
		eddyi_span_queue_done(&queue, batch);
	}
	for (int i = 0; i < THREADS; i++)
		all_lost += lost[i];
	return count + all_lost == THREADS * EACH ? 0 : -EINVAL;
}

Test(span_queue, loses_nothing_that_it_took)
{
	begin(7, 500);
	cr_expect(eq(int, eddy_run(NULL, take_many, NULL), 0));
	cr_expect(eq(uint, eddyi_span_queue_deinit(&queue), 0));
}
