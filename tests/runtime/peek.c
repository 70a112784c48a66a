/* Tests of runtime/src/report/peek.c: another thread's loop, which goes on meanwhile. */
#include "expect.h"
#include "report/peek.h"

#include <eddy/internal/debug.h>
#include <eddy/task.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static struct {
	pthread_t thread;
	eddy_task_fn *fn;
	struct eddy_loop *loop;
	sem_t begun, go_on;
	atomic_bool stop;
} other;

/* Hold the loop. */
static void hold(__attribute__((unused)) void *arg)
{
	other.loop = eddy_loop_self();
	sem_post(&other.begun);
	sem_wait(&other.go_on);
}

static void *run_other(__attribute__((unused)) void *arg)
{
	eddy_run(&(struct eddy_loop_options){ .name = "other" }, other.fn, NULL);
	return NULL;
}

/* Run `fn` until it holds its loop. */
static void start(eddy_task_fn *fn)
{
	sem_init(&other.begun, 0, 0);
	sem_init(&other.go_on, 0, 0);
	other.fn = fn;
	cr_assert_eq(pthread_create(&other.thread, NULL, run_other, NULL), 0);
	sem_wait(&other.begun);
}

static void end(void)
{
	other.stop = true;
	sem_post(&other.go_on);
	pthread_join(other.thread, NULL);
}

static int hold_with_label(void *arg)
{
	eddyi_task_set_label("GET /held");
	hold(arg);
	eddyi_task_set_label(NULL);
	return 0;
}

Test(peek, sees_the_task_that_runs)
{
	uint64_t before = eddy_now();
	struct eddyi_peeked peeked;

	start(hold_with_label);
	cr_expect(eddyi_peek(other.loop, &peeked));
	cr_expect_eq(peeked.id, 1);
	cr_expect_str_eq(peeked.name, "other");
	cr_expect_str_eq(peeked.label, "GET /held");
	cr_expect_str_eq(peeked.where, "eddy_run()");
	/* A turn's clock may be coarse. */
	cr_expect(peeked.turn_ns > before - 20 * EDDY_MS && peeked.turn_ns <= eddy_now());
	end();
}

static int hold_on_loop_stack(void *arg)
{
	eddy_on_loop_stack(hold, arg);
	return 0;
}

Test(peek, sees_the_task_that_is_on_its_loops_stack)
{
	struct eddyi_peeked peeked;

	start(hold_on_loop_stack);
	cr_expect(eddyi_peek(other.loop, &peeked));
	cr_expect_str_eq(peeked.name, "other");
	cr_expect_str_empty(peeked.label);
	end();
}

static char long_label[1000];

static int hold_with_long_label(void *arg)
{
	memset(long_label, 'x', sizeof(long_label) - 1);
	eddyi_task_set_label(long_label);
	hold(arg);
	/* Until the test has looked at it: memory that is gone. */
	eddyi_task_set_label((const char *)16);
	hold(arg);
	eddyi_task_set_label(NULL);
	return 0;
}

Test(peek, survives_texts_that_are_long_or_gone)
{
	struct eddyi_peeked peeked;

	start(hold_with_long_label);
	cr_expect(eddyi_peek(other.loop, &peeked));
	cr_expect_eq(strlen(peeked.label), sizeof(peeked.label) - 1);
	sem_post(&other.go_on);
	sem_wait(&other.begun);
	cr_expect(eddyi_peek(other.loop, &peeked));
	cr_expect_str_empty(peeked.label);
	cr_expect_str_eq(peeked.name, "other");
	end();
}

static int hold_and_sleep(void *arg)
{
	hold(arg);
	while (!other.stop)
		eddy_sleep(20 * EDDY_MS);
	return 0;
}

Test(peek, sees_no_task_on_a_loop_that_sleeps)
{
	struct eddyi_peeked peeked;
	bool runs = true;

	start(hold_and_sleep);
	cr_expect(eddyi_peek(other.loop, &peeked));
	sem_post(&other.go_on);
	for (int i = 0; runs && i < 5000; i++) {
		usleep(1000);
		runs = eddyi_peek(other.loop, &peeked);
	}
	cr_expect(!runs);
	/* Its clock is known nevertheless. */
	cr_expect(peeked.turn_ns);
	cr_expect_str_empty(peeked.name);
	end();
}
