#include <criterion/criterion.h>
#include <eddy/event.h>
#include <eddy/log.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int cancelled_offload(void *arg)
{
	struct eddy_scope scope;
	int number = 1, r;

	(void)arg;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	r = eddy_offload(add_one, &number);
	if (r != 2 || !eddy_is_cancelled())
		return -EPROTO;
	eddy_scope_cancel(&scope);
	r = eddy_offload(add_one, &number);
	eddy_scope_end(&scope);
	return r;
}

Test(offload, waits_for_its_function_whatever_happens)
{
	cr_expect_eq(eddy_run(NULL, cancelled_offload, NULL), 3);
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

/* Until so many jobs have been given a thread. */
static void wait_until_begun(int count)
{
	while (atomic_load(&begun) < count)
		eddy_sleep(EDDY_MS);
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
