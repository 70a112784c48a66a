#include "jobs.h"

#include <eddy/log.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

static atomic_int running, most;
static int together; /* so many jobs wait for one another */

static int busy(void *arg)
{
	int now = atomic_fetch_add(&running, 1) + 1, seen = atomic_load(&most);

	(void)arg;
	while (seen < now && !atomic_compare_exchange_weak(&most, &seen, now))
		;
	for (int i = 0; i < 2000 && atomic_load(&most) < together; i++)
		nap();
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
	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 3 });
	together = 3;
	cr_expect_eq(eddy_run(NULL, many, NULL), 0);
	cr_expect_eq(atomic_load(&ended), 40);
	cr_expect_eq(atomic_load(&most), 3);
}

Test(offload, a_limit_that_is_not_set_stays)
{
	cr_expect_eq(eddy_offload_configure(&(struct eddy_offload_options){ .threads = 3 }), 0);
	cr_expect_eq(eddy_offload_configure(&(struct eddy_offload_options){ .queue_max = 7 }), 0);
	cr_expect_eq(eddy_offload_configure(&(struct eddy_offload_options){
			     .threads = EDDY_OFFLOAD_THREADS_MAX + 1, .queue_max = 1 }),
		     -EINVAL);
	cr_expect_eq(eddy_offload_configure(NULL), 0);
	together = 3;
	cr_expect_eq(eddy_run(NULL, many, NULL), 0);
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
	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 2 });
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

static int niceness(void *arg)
{
	(void)arg;
	return getpriority(PRIO_PROCESS, (id_t)gettid());
}

static int compare_niceness(void *arg)
{
	int own = niceness(NULL), theirs = eddy_offload(niceness, NULL);

	(void)arg;
	return theirs == (own + 5 < 19 ? own + 5 : 19) ? 0 : -EINVAL;
}

Test(offload, its_threads_give_way_to_loops)
{
	cr_expect_eq(eddy_run(NULL, compare_niceness, NULL), 0);
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
