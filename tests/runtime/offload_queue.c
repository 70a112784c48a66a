/* Tests of eddy/offload.h: the queue of jobs: its order, and what happens when it is full. */
#include "jobs.h"

#include <limits.h>

/* In which order they came, and in which they began. */
static int arrived, order[4];
static atomic_int order_len;

static int note_order(void *arg)
{
	if (order_len == 4)
		return -EPROTO;
	order[order_len++] = *(int *)arg;
	return 0;
}

static int in_line(void *arg)
{
	int number = ++arrived;

	(void)arg;
	return eddy_offload(note_order, &number);
}

static void keep(void *arg)
{
	(void)arg;
}

static int detached_in_line(void *arg)
{
	int number = ++arrived;

	(void)arg;
	return eddy_offload_detached(note_order, &number, keep);
}

static int queue_in_order(void *arg)
{
	struct eddy_scope scope;
	struct slow *gate = slow_new(7);

	eddy_scope_begin(&scope, NULL);
	hold_thread(&scope, hold, gate);
	for (int i = 0; i < 4; i++)
		eddy_scope_spawn(&scope, "job", i % 2 ? in_line : detached_in_line, arg);
	expect_turns(2);
	let_go(gate);
	eddy_scope_join(&scope);
	slow_free(gate);
	return eddy_scope_end(&scope);
}

/* A stream of jobs of one kind must not keep those of the other waiting. */
Test(offload_queue, jobs_begin_in_the_order_in_which_they_came)
{
	cr_expect_eq(eddy_run(NULL, queue_in_order, NULL), 0);
	for (int i = 0; i < 4; i++)
		cr_expect_eq(order[i], i + 1, "%d", order[i]);
}

static int full_queue(void *arg)
{
	struct eddy_scope scope;
	struct slow *gate = slow_new(0), *refused = slow_new(5);
	int r;

	eddy_offload_configure(&(struct eddy_offload_options){ .queue_max = 2 });
	eddy_scope_begin(&scope, NULL);
	hold_thread(&scope, hold, gate);
	eddy_scope_spawn(&scope, "job", in_line, arg);
	eddy_scope_spawn(&scope, "job", detached_in_line, arg);
	expect_turns(2);
	r = eddy_offload_detached(slow_run, refused, slow_free);
	/* Who waits for its result stands in line all the same. */
	eddy_scope_spawn(&scope, "job", in_line, arg);
	expect_turns(2);
	let_go(gate);
	eddy_scope_join(&scope);
	if (atomic_load(&destroyed))
		r = -EPROTO; /* it was still ours */
	slow_free(refused);
	slow_free(gate);
	return eddy_scope_end(&scope) == 0 && order_len == 3 && order[2] == 3 ? r : -EPROTO;
}

Test(offload_queue, a_full_queue_refuses_detached_jobs)
{
	cr_expect_eq(eddy_run(NULL, full_queue, NULL), -EAGAIN);
}

struct caller {
	struct eddy_scope scope;
	int number, result;
};

static int call_in_line(void *arg)
{
	struct caller *caller = arg;

	eddy_scope_begin(&caller->scope, NULL);
	caller->number = ++arrived;
	caller->result = eddy_offload(note_order, &caller->number);
	eddy_scope_end(&caller->scope);
	return 0;
}

static bool is_refused(void)
{
	int number = 0;

	return eddy_offload_detached(note_order, &number, keep) == -EAGAIN;
}

/* Let those who came at these places leave the line. Return: whether they have. */
static bool leave_line(struct caller callers[7], int one, int other)
{
	bool have_left = true;

	for (int i = 0; i < 7; i++)
		if (callers[i].number == one || callers[i].number == other)
			eddy_scope_cancel(&callers[i].scope);
	expect_turns(2);
	for (int i = 0; i < 7; i++)
		if (callers[i].number == one || callers[i].number == other)
			have_left &= callers[i].result == -ECANCELED;
	return have_left;
}

static int line_beyond_the_queue(void *arg)
{
	struct caller callers[7] = { 0 };
	struct eddy_scope scope;
	struct slow *gate = slow_new(0);
	bool is_right;

	eddy_offload_configure(&(struct eddy_offload_options){ .queue_max = 3 });
	eddy_scope_begin(&scope, NULL);
	hold_thread(&scope, hold, gate);
	for (int i = 0; i < 7; i++)
		eddy_scope_spawn(&scope, "caller", call_in_line, &callers[i]);
	expect_turns(2);
	is_right = arrived == 7 && is_refused();
	/* From within the queue and from beyond it; then it is full with nobody beyond. */
	is_right = leave_line(callers, 1, 5) && is_refused() && is_right;
	is_right = leave_line(callers, 6, 7) && is_refused() && is_right;
	is_right = leave_line(callers, 3, 3) && is_right;
	eddy_scope_spawn(&scope, "job", detached_in_line, arg);
	expect_turns(2);
	let_go(gate);
	eddy_scope_join(&scope);
	slow_free(gate);
	return eddy_scope_end(&scope) == 0 && is_right ? 0 : -EPROTO;
}

Test(offload_queue, callers_beyond_a_full_queue_wait_in_line_and_may_leave_it)
{
	cr_expect_eq(eddy_run(NULL, line_beyond_the_queue, NULL), 0);
	cr_expect_eq(order_len, 3, "%d", order_len);
	cr_expect_eq(order[0], 2);
	cr_expect_eq(order[1], 4);
	cr_expect_eq(order[2], 8);
}

static int quick_detached(void *arg)
{
	int r = eddy_offload_detached(count_call, arg, keep);

	atomic_fetch_add(&ended, r == 0);
	return r;
}

static int room_for_free_threads(void *arg)
{
	struct eddy_scope scope;

	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 4, .queue_max = 1 });
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3; i++)
		eddy_scope_spawn(&scope, "job", quick_detached, arg);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

Test(offload_queue, jobs_that_free_threads_take_need_no_room)
{
	for (int i = 0; i < 20; i++)
		cr_expect_eq(eddy_run(NULL, room_for_free_threads, NULL), 0);
	cr_expect_eq(atomic_load(&ended), 60);
}

static int endless_queue(void *arg)
{
	struct eddy_scope scope;
	struct slow *gate = slow_new(0);
	int r;

	eddy_offload_configure(&(struct eddy_offload_options){ .queue_max = UINT_MAX });
	eddy_scope_begin(&scope, NULL);
	hold_thread(&scope, hold, gate);
	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 2 });
	for (int i = 0; i < 10; i++)
		eddy_scope_spawn(&scope, "job", quick_detached, arg);
	expect_turns(2);
	let_go(gate);
	eddy_scope_join(&scope);
	slow_free(gate);
	r = eddy_scope_end(&scope);
	return r;
}

Test(offload_queue, a_queue_without_a_limit)
{
	int count = 0;

	cr_expect_eq(eddy_run(NULL, endless_queue, &count), 0);
}

static int run_short(void *arg)
{
	struct eddy_scope scope;
	int number = 1, r;

	(void)arg;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 10 * EDDY_SECOND });
	r = eddy_offload_short(add_one, &number);
	eddy_scope_end(&scope);
	return r;
}

/* Two long jobs hold both threads that they may use; three wait. */
static int short_beside_long(void *arg)
{
	struct slow *gates[2] = { slow_new(0), slow_new(0) };
	struct eddy_offload_stats stats;
	struct eddy_scope scope;
	bool is_right;

	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 2 });
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 2; i++)
		eddy_scope_spawn(&scope, "holder", hold, gates[i]);
	wait_until_begun(2);
	eddy_scope_spawn(&scope, "job", in_line, arg);
	eddy_scope_spawn(&scope, "job", detached_in_line, arg);
	eddy_scope_spawn(&scope, "job", in_line, arg);
	expect_turns(2);
	is_right = run_short(NULL) == 2 && run_short(NULL) == 2;
	stats = eddy_offload_stats();
	is_right &= stats.threads == 3 && stats.queued == 3 && stats.short_queued == 0;
	is_right &= stats.begun == 4 && stats.short_begun == 2 && order_len == 0;
	for (int i = 0; i < 2; i++)
		let_go(gates[i]);
	eddy_scope_join(&scope);
	for (int i = 0; i < 2; i++)
		slow_free(gates[i]);
	return eddy_scope_end(&scope) == 0 && is_right && order_len == 3 ? 0 : -EPROTO;
}

Test(offload_queue, short_jobs_never_wait_for_a_long_one_to_end)
{
	cr_expect_eq(eddy_run(NULL, short_beside_long, NULL), 0);
}

static int hold_short(void *arg)
{
	return eddy_offload_short(slow_run, arg);
}

static int short_in_line(void *arg)
{
	int number = ++arrived;

	(void)arg;
	return eddy_offload_short(note_order, &number);
}

/* One holds the thread of long jobs, one that of short jobs: what waits begins in the order of its arrival. */
static int short_and_long_in_order(void *arg)
{
	struct slow *gate = slow_new(0), *short_gate = slow_new(0);
	struct eddy_offload_stats stats;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	hold_thread(&scope, hold, gate);
	eddy_scope_spawn(&scope, "holder", hold_short, short_gate);
	for (int i = 0; i < 10000 && atomic_load(&begun) < 2; i++)
		eddy_sleep(EDDY_MS);
	for (int i = 0; i < 4; i++)
		eddy_scope_spawn(&scope, "job", i % 2 ? short_in_line : in_line, arg);
	expect_turns(2);
	stats = eddy_offload_stats();
	let_go(gate);
	for (int i = 0; i < 10000 && order_len < 4; i++)
		eddy_sleep(EDDY_MS);
	let_go(short_gate);
	eddy_scope_join(&scope);
	slow_free(gate);
	slow_free(short_gate);
	return eddy_scope_end(&scope) == 0 && stats.short_running == 1 && stats.short_queued == 2 &&
			       stats.queued == 4 ?
		       0 :
		       -EPROTO;
}

Test(offload_queue, a_thread_takes_the_oldest_job_short_or_long)
{
	cr_expect_eq(eddy_run(NULL, short_and_long_in_order, NULL), 0);
	for (int i = 0; i < 4; i++)
		cr_expect_eq(order[i], i + 1, "%d", order[i]);
}
