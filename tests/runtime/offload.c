#include <criterion/criterion.h>
#include <eddy/event.h>
#include <eddy/log.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static void nap(void)
{
	usleep(2000);
}

static int add_one(void *arg)
{
	nap();
	return ++*(int *)arg;
}

static int offload_one(void *arg)
{
	int number = 41;

	(void)arg;
	return eddy_offload(add_one, &number);
}

Test(offload, returns_what_the_function_returned)
{
	cr_expect_eq(eddy_run(NULL, offload_one, NULL), 42);
	cr_expect_eq(eddy_run(NULL, offload_one, NULL), 42, "the pool outlives a loop");
}

static atomic_int running, most, ended;

static int busy(void *arg)
{
	int now = atomic_fetch_add(&running, 1) + 1, seen = atomic_load(&most);

	(void)arg;
	while (seen < now && !atomic_compare_exchange_weak(&most, &seen, now))
		;
	nap();
	atomic_fetch_sub(&running, 1);
	return 0;
}

static int busy_task(void *arg)
{
	int r = eddy_offload(busy, arg);

	atomic_fetch_add(&ended, 1);
	return r;
}

static int many(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 40; i++)
		eddy_scope_spawn(&scope, "busy", busy_task, arg);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

Test(offload, threads_are_bounded_and_the_rest_waits)
{
	eddy_offload_set_threads(3);
	cr_expect_eq(eddy_run(NULL, many, NULL), 0);
	cr_expect_eq(atomic_load(&ended), 40);
	cr_expect_eq(atomic_load(&most), 3);
}

static void *run_many(void *arg)
{
	cr_assert_eq(eddy_run(NULL, many, arg), 0);
	return NULL;
}

Test(offload, serves_loops_of_several_threads)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, run_many, NULL), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(atomic_load(&ended), 120);
}

/* A job that ends when it is told to. */
struct slow {
	atomic_int *destroyed;
	int go[2];
	int number;
};

static atomic_int destroyed, begun;

static struct slow *slow_new(int number)
{
	struct slow *slow = calloc(1, sizeof(*slow));

	slow->destroyed = &destroyed;
	slow->number = number;
	if (pipe(slow->go) < 0)
		abort();
	return slow;
}

static void slow_free(void *arg)
{
	struct slow *slow = arg;

	atomic_fetch_add(slow->destroyed, 1);
	close(slow->go[0]);
	close(slow->go[1]);
	free(slow);
}

static int slow_run(void *arg)
{
	struct slow *slow = arg;
	char c;

	atomic_fetch_add(&begun, 1);
	return read(slow->go[0], &c, 1) == 1 ? slow->number : -EIO;
}

/* Until so many jobs have been given a thread. */
static void wait_until_begun(int count)
{
	while (atomic_load(&begun) < count)
		eddy_sleep(EDDY_MS);
}

/* Hold the pool's only thread: `gate` lets go of it. */
static void hold_thread(struct eddy_scope *scope, eddy_task_fn *fn, struct slow *gate)
{
	int count = atomic_load(&begun);

	eddy_offload_set_threads(1);
	eddy_scope_spawn(scope, "holder", fn, gate);
	wait_until_begun(count + 1);
}

static void let_go(struct slow *gate)
{
	if (write(gate->go[1], "x", 1) != 1)
		abort();
}

static int hold(void *arg)
{
	return eddy_offload(slow_run, arg);
}

static int cancel_and_let_go(void *arg)
{
	struct slow *gate = ((void **)arg)[1];

	wait_until_begun(1);
	eddy_scope_cancel(((void **)arg)[0]);
	eddy_yield();
	let_go(gate);
	return 0;
}

static int cancelled_begun(void *arg)
{
	struct eddy_scope outer, scope;
	struct slow *gate = slow_new(7);
	void *both[] = { &scope, gate };
	int r;

	(void)arg;
	eddy_scope_begin(&outer, NULL);
	eddy_scope_spawn(&outer, "cancel", cancel_and_let_go, both);
	eddy_scope_begin(&scope, NULL);
	r = eddy_offload(slow_run, gate);
	if (!eddy_is_cancelled())
		r = -EPROTO;
	eddy_scope_end(&scope);
	eddy_scope_join(&outer);
	eddy_scope_end(&outer);
	slow_free(gate);
	return r;
}

Test(offload, what_has_begun_is_awaited_whatever_happens)
{
	cr_expect_eq(eddy_run(NULL, cancelled_begun, NULL), 7);
}

static int cancelled_queued(void *arg)
{
	struct eddy_scope scope, short_of_time;
	struct slow *gate = slow_new(7);
	int number = 1, r;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	hold_thread(&scope, hold, gate);
	eddy_scope_begin(&short_of_time, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	r = eddy_offload(add_one, &number);
	/* Once more, in a scope that is cancelled already. */
	if (eddy_offload(add_one, &number) != -ECANCELED)
		r = -EPROTO;
	eddy_scope_end(&short_of_time);
	let_go(gate);
	/* The thread is as good as before. */
	if (eddy_offload(add_one, &number) != 2)
		r = -EPROTO;
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	slow_free(gate);
	return r;
}

Test(offload, what_has_not_begun_is_taken_back)
{
	cr_expect_eq(eddy_run(NULL, cancelled_queued, NULL), -ECANCELED);
}

static int shielded_job(void *arg)
{
	struct eddy_scope shield;
	int r;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	r = eddy_offload(add_one, arg);
	eddy_scope_end(&shield);
	return r == 2 ? 0 : -EPROTO;
}

static int queued_and_shielded(void *arg)
{
	struct eddy_scope scope, holding;
	struct slow *gate = slow_new(7);
	int number = 1;

	(void)arg;
	eddy_scope_begin(&holding, NULL);
	hold_thread(&holding, hold, gate);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "shielded", shielded_job, &number);
	eddy_yield();
	eddy_scope_cancel(&scope);
	let_go(gate);
	eddy_scope_end(&scope);
	eddy_scope_join(&holding);
	eddy_scope_end(&holding);
	slow_free(gate);
	return number;
}

Test(offload, a_shielded_job_is_not_taken_back)
{
	cr_expect_eq(eddy_run(NULL, queued_and_shielded, NULL), 2);
}

/* Jobs that begin as others are cancelled: each was either called or not, and says so. */
static atomic_int called;

static int count_call(void *arg)
{
	(void)arg;
	usleep(30);
	return atomic_fetch_add(&called, 1) * 0;
}

static int taken_or_not(void *arg)
{
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = (uintptr_t)arg });
	r = eddy_offload(count_call, NULL);
	eddy_scope_end(&scope);
	atomic_fetch_add(&ended, r == 0);
	return r == -ECANCELED ? 0 : r;
}

static int take_back_race(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_offload_set_threads(2);
	eddy_scope_begin(&scope, NULL);
	/* The first has no deadline: it is called however slow the machine is. */
	for (uintptr_t i = 0; i < 200; i++)
		eddy_scope_spawn(&scope, "job", taken_or_not, (void *)(i * 20 * EDDY_US));
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

Test(offload, a_job_was_called_or_taken_back)
{
	cr_expect_eq(eddy_run(NULL, take_back_race, NULL), 0);
	cr_expect_eq(atomic_load(&called), atomic_load(&ended));
	cr_expect(atomic_load(&ended) > 0);
}

/* In which order they came, and in which they began. */
static int arrived, order[4], order_len;

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
Test(offload, jobs_begin_in_the_order_in_which_they_came)
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

	eddy_offload_set_queue_max(2);
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

Test(offload, a_full_queue_refuses_detached_jobs)
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

	eddy_offload_set_queue_max(3);
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

Test(offload, callers_beyond_a_full_queue_wait_in_line_and_may_leave_it)
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

	eddy_offload_set_threads(4);
	eddy_offload_set_queue_max(1);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3; i++)
		eddy_scope_spawn(&scope, "job", quick_detached, arg);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

Test(offload, jobs_that_free_threads_take_need_no_room)
{
	for (int i = 0; i < 20; i++)
		cr_expect_eq(eddy_run(NULL, room_for_free_threads, NULL), 0);
	cr_expect_eq(atomic_load(&ended), 60);
}

static int detached_result(void *arg)
{
	struct slow *slow = slow_new(5);
	int r;

	(void)arg;
	if (write(slow->go[1], "x", 1) != 1)
		return -EIO;
	r = eddy_offload_detached(slow_run, slow, slow_free);
	if (atomic_load(&destroyed))
		return -EPROTO;
	r += slow->number; /* ours again */
	slow_free(slow);
	return r;
}

Test(offload, a_detached_result_comes_with_its_argument)
{
	cr_expect_eq(eddy_run(NULL, detached_result, NULL), 10);
}

static int cancel_begun(void *arg)
{
	wait_until_begun(1);
	eddy_scope_cancel(arg);
	return 0;
}

static int detached_cancel(void *arg)
{
	struct eddy_scope scope;
	struct slow *slow = slow_new(5);
	int r;

	*(int *)arg = dup(slow->go[1]);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "cancel", cancel_begun, &scope);
	r = eddy_offload_detached(slow_run, slow, slow_free);
	if (r != -ECANCELED || eddy_scope_end(&scope) != -ECANCELED)
		return -EPROTO;
	return 0;
}

Test(offload, a_detached_job_may_outlive_its_loop)
{
	int go = -1;

	cr_expect_eq(eddy_run(NULL, detached_cancel, &go), 0);
	cr_expect_eq(atomic_load(&destroyed), 0);
	cr_assert_eq(write(go, "x", 1), 1);
	close(go);
	for (int i = 0; i < 1000 && !atomic_load(&destroyed); i++)
		nap();
	cr_expect_eq(atomic_load(&destroyed), 1);
}

static int detached_task(void *arg)
{
	int r = eddy_offload_detached(slow_run, arg, slow_free);

	atomic_fetch_add(&ended, r == -ECANCELED);
	return 0;
}

/* Two jobs take what threads they can get, four wait. */
static int detached_queue(void *arg)
{
	struct eddy_scope scope;
	int number = 1, r;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 6; i++)
		eddy_scope_spawn(&scope, "slow", detached_task, slow_new(i));
	wait_until_begun(2);
	r = eddy_offload(add_one, &number);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	return r == 2 ? atomic_load(&destroyed) : -EPROTO;
}

Test(offload, cancelled_before_a_thread_had_it)
{
	eddy_offload_set_threads(3);
	cr_expect_eq(eddy_run(NULL, detached_queue, NULL), 4, "what had not begun is gone");
	cr_expect_eq(atomic_load(&ended), 6);
}

static int detached_in_cancelled_scope(void *arg)
{
	struct eddy_scope scope;
	int r;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	r = eddy_offload_detached(slow_run, slow_new(1), slow_free);
	eddy_scope_end(&scope);
	return r == -ECANCELED ? atomic_load(&destroyed) : -EPROTO;
}

Test(offload, detached_in_a_cancelled_scope_does_not_run)
{
	cr_expect_eq(eddy_run(NULL, detached_in_cancelled_scope, NULL), 1);
}

/* Results and time-outs that come at the same moment: each argument is destroyed or comes back. */
static atomic_int came_back;

static int quick(void *arg)
{
	(void)arg;
	usleep(50);
	return 0;
}

static int race_task(void *arg)
{
	struct eddy_scope scope;
	struct slow *slow = slow_new(1);

	eddy_scope_begin(&scope,
			 &(struct eddy_scope_options){ .timeout_ns = (uint64_t)(uintptr_t)arg });
	if (eddy_offload_detached(quick, slow, slow_free) == 0) {
		atomic_fetch_add(&came_back, 1);
		free(memset(slow, 0, sizeof(*slow)));
	}
	eddy_scope_end(&scope);
	return 0;
}

static int race(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	for (int round = 0; round < 20; round++) {
		eddy_scope_begin(&scope, NULL);
		for (uintptr_t i = 0; i < 10; i++)
			eddy_scope_spawn(&scope, "race", race_task,
					 (void *)((i + 1) * 40 * EDDY_US));
		eddy_scope_join(&scope);
		eddy_scope_end(&scope);
	}
	return 0;
}

Test(offload, results_race_with_timeouts)
{
	cr_expect_eq(eddy_run(NULL, race, NULL), 0);
	for (int i = 0; i < 1000 && atomic_load(&came_back) + atomic_load(&destroyed) < 200; i++)
		nap();
	cr_expect_eq(atomic_load(&came_back) + atomic_load(&destroyed), 200);
}

static int mask_of_thread(void *arg)
{
	return pthread_sigmask(SIG_SETMASK, NULL, arg);
}

static int offload_mask(void *arg)
{
	return eddy_offload(mask_of_thread, arg);
}

Test(offload, its_threads_receive_no_signals)
{
	sigset_t set;

	cr_assert_eq(eddy_run(NULL, offload_mask, &set), 0);
	cr_expect_eq(sigismember(&set, SIGTERM), 1);
	cr_expect_eq(sigismember(&set, SIGCHLD), 1);
	cr_expect_eq(sigismember(&set, SIGSEGV), 0, "a fault is the thread's own");
}

static bool has_id;

static void see(const struct eddy_record *record, void *arg)
{
	(void)arg;
	has_id = record->field_count == 1 && strcmp(record->fields[0].name, "id") == 0;
}

static int emit(void *arg)
{
	(void)arg;
	eddy_info("t", "on a thread");
	return 0;
}

static int offload_in_scope(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){
					 .log_fields = EDDY_FIELDS(eddy_field_u64("id", 1)) });
	eddy_offload(emit, arg);
	return eddy_scope_end(&scope);
}

Test(offload, records_have_the_fields_of_the_task)
{
	unsetenv("EDDY_LOG");
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	cr_expect_eq(eddy_run(NULL, offload_in_scope, NULL), 0);
	cr_expect(has_id);
}

static int endless_queue(void *arg)
{
	struct eddy_scope scope;
	struct slow *gate = slow_new(0);
	int r;

	eddy_offload_set_queue_max(UINT_MAX);
	eddy_scope_begin(&scope, NULL);
	hold_thread(&scope, hold, gate);
	eddy_offload_set_threads(2);
	for (int i = 0; i < 10; i++)
		eddy_scope_spawn(&scope, "job", quick_detached, arg);
	expect_turns(2);
	let_go(gate);
	eddy_scope_join(&scope);
	slow_free(gate);
	r = eddy_scope_end(&scope);
	return r;
}

Test(offload, a_queue_without_a_limit)
{
	int count = 0;

	cr_expect_eq(eddy_run(NULL, endless_queue, &count), 0);
}
