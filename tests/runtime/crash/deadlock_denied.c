/* Nothing is ready for a while, and something may still happen: no report comes. Each case waits for
 * several times what a loop's patience is. A program of its own, because Criterion has threads.
 * expect: exit 0
 * expect: stderr ^$
 */
#include <eddy/event.h>
#include <eddy/list.h>
#include <eddy/loops.h>
#include <eddy/offload.h>
#include <eddy/op.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <errno.h>
#include <liburing.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define LONG (60 * EDDY_MS)

static void expect_eq(int line, long long value, long long wanted)
{
	if (value == wanted)
		return;
	printf("line %d: %lld, not %lld\n", line, value, wanted);
	exit(1);
}

static void sleep_outside(void)
{
	usleep(LONG / EDDY_US);
}

/* An op that is no timer of the loop's. */
static int is_not_where_an_op_is(void *arg)
{
	struct __kernel_timespec timeout = { .tv_nsec = LONG };
	struct eddy_op op;
	struct io_uring_sqe *sqe = eddy_op_begin_await(&op);

	(void)arg;
	io_uring_prep_timeout(sqe, &timeout, 0, 0);
	expect_eq(__LINE__, eddy_op_await(&op, sqe), -ETIME);
	return 0;
}

struct lone {
	struct eddy_op op;
	struct eddy_event done;
};

static void lone_done(struct eddy_op *op, int result, unsigned flags)
{
	(void)result;
	(void)flags;
	eddy_event_set(&eddy_of(op, struct lone, op)->done);
}

static int is_not_where_an_op_without_a_task_is(void *arg)
{
	struct __kernel_timespec timeout = { .tv_nsec = LONG };
	struct lone lone;
	struct io_uring_sqe *sqe = eddy_op_begin(&lone.op, lone_done);

	(void)arg;
	eddy_event_init(&lone.done);
	io_uring_prep_timeout(sqe, &timeout, 0, 0);
	eddy_op_start(&lone.op, sqe);
	expect_eq(__LINE__, eddy_event_wait(&lone.done), 0);
	return 0;
}

static int is_not_where_a_timer_is(void *arg)
{
	(void)arg;
	expect_eq(__LINE__, eddy_sleep(LONG), 0);
	return 0;
}

static int outside(void *arg)
{
	(void)arg;
	sleep_outside();
	return 7;
}

static int is_not_where_a_function_is_offloaded(void *arg)
{
	(void)arg;
	expect_eq(__LINE__, eddy_offload(outside, NULL), 7);
	return 0;
}

struct note {
	struct eddy_message message;
	struct eddy_loop *loop;
	struct eddy_event came;
};

static void came(struct eddy_message *message)
{
	eddy_event_set(&eddy_of(message, struct note, message)->came);
}

static void note_init(struct note *note)
{
	*note = (struct note){ .message = { .deliver = came }, .loop = eddy_loop_self() };
	eddy_event_init(&note->came);
}

static void post_note(void *arg)
{
	struct note *note = arg;

	sleep_outside();
	eddy_loop_post(note->loop, &note->message);
}

static int detached(void *arg)
{
	return eddy_offload_detached(outside, arg, post_note);
}

/* Nobody waits for the function any more; what frees its argument wakes a task. */
static int is_not_where_a_function_that_was_given_up_runs(void *arg)
{
	struct eddy_scope scope;
	struct note note;

	(void)arg;
	note_init(&note);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "detached", detached, &note);
	/* The function runs. */
	eddy_sleep(5 * EDDY_MS);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	expect_eq(__LINE__, eddy_event_wait(&note.came), 0);
	return 0;
}

static void *thread_main(void *arg)
{
	post_note(arg);
	return NULL;
}

static int is_not_where_another_thread_is(void *arg)
{
	struct note note;
	pthread_t thread;

	(void)arg;
	note_init(&note);
	expect_eq(__LINE__, pthread_create(&thread, NULL, thread_main, &note), 0);
	expect_eq(__LINE__, eddy_event_wait(&note.came), 0);
	pthread_join(thread, NULL);
	return 0;
}

static struct note *to_post;

static void handle_alarm(int signo)
{
	(void)signo;
	eddy_loop_post(to_post->loop, &to_post->message);
}

static int is_not_where_a_signal_is_handled(void *arg)
{
	struct itimerval alarm = { .it_value = { .tv_usec = LONG / EDDY_US } };
	struct note note;

	(void)arg;
	note_init(&note);
	to_post = &note;
	signal(SIGALRM, handle_alarm);
	setitimer(ITIMER_REAL, &alarm, NULL);
	expect_eq(__LINE__, eddy_event_wait(&note.came), 0);
	signal(SIGALRM, SIG_DFL);
	return 0;
}

/* One loop holds an op, all others wait for it. */
static struct eddy_shared_event all;

static int wait_or_sleep(void *arg)
{
	(void)arg;
	if (eddy_loops_index() != 1)
		return eddy_shared_event_wait(&all);
	eddy_sleep(LONG);
	eddy_shared_event_set(&all);
	return 0;
}

/* Loops that live by messages alone. */
static int yield_once(void *arg)
{
	(void)arg;
	return eddy_yield();
}

static int call_each_other(void *arg)
{
	unsigned next = (eddy_loops_index() + 1) % eddy_loops_count();

	(void)arg;
	for (int i = 0; i < 200; i++)
		expect_eq(__LINE__, eddy_loops_call(eddy_loops_at(next), "call", yield_once, NULL),
			  0);
	return 0;
}

static int is_not_where_another_loop_is_at_work(void *arg)
{
	struct eddy_loops_options options = { .count = 3 };

	(void)arg;
	eddy_shared_event_init(&all);
	expect_eq(__LINE__, eddy_loops_run(&options, wait_or_sleep, NULL), 0);
	expect_eq(__LINE__, eddy_loops_run(&options, call_each_other, NULL), 0);
	return 0;
}

int main(void)
{
	static eddy_task_fn *const cases[] = {
		is_not_where_an_op_is,
		is_not_where_an_op_without_a_task_is,
		is_not_where_a_timer_is,
		is_not_where_a_function_is_offloaded,
		is_not_where_a_function_that_was_given_up_runs,
		is_not_where_another_thread_is,
		is_not_where_a_signal_is_handled,
		is_not_where_another_loop_is_at_work,
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_eq(__LINE__, eddy_run(NULL, cases[i], NULL), 0);
	return 0;
}
