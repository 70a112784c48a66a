/* Each primitive is used by two loops, in a process of its own, which ends. */
#include "../on_tsan.h"
#include "core/own.h"
#include "capture.h"
#include "debug.h"
#include "expect.h"

#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/join.h>
#include <eddy/loops.h>
#include <eddy/mutex.h>
#include <eddy/net.h>
#include <eddy/offload.h>
#include <eddy/select.h>
#include <eddy/semaphore.h>
#include <eddy/ticker.h>
#include <liburing.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* One of each; they belong to the first loop. */
static struct eddy_chan chan;
static struct eddy_event event;
static struct eddy_mutex mutex;
static struct eddy_semaphore semaphore;
static struct eddy_ticker ticker;
static struct eddy_scope scope;
static struct eddy_join join, other_join;
static struct eddy_timer timer;
static struct eddy_timeout_queue queue;
static struct eddy_timeout_queue other_queue; /* of whoever uses it first */
static struct eddy_timeout timeout;
static struct eddy_op op;
static struct eddy_buffers buffers;
static struct eddy_buffers_waiter waiter;
static struct eddy_mutex other_mutex; /* of whoever uses it first */
static struct io_uring_sqe sqe;
static int item;

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

static struct eddy_case *one(struct eddy_case made)
{
	static struct eddy_case kept;

	kept = made;
	return &kept;
}

struct use {
	const char *what;
	int line;
};

#define USE(name, call)                                                                            \
	if (at++ == number) {                                                                      \
		*ret_use = (struct use){ name, __LINE__ };                                         \
		if (really)                                                                        \
			call;                                                                      \
		return true;                                                                       \
	}

/* Say what the use with this number is, and make it, `really`. Return: whether there is one. */
static bool use(unsigned number, bool really, struct use *ret_use)
{
	unsigned at = 0;

	USE("a channel", eddy_chan_send(&chan, &item));
	USE("a channel", eddy_chan_recv(&chan, &item));
	USE("a channel", eddy_chan_try_send(&chan, &item));
	USE("a channel", eddy_chan_try_recv(&chan, &item));
	USE("a channel", eddy_chan_close(&chan));
	USE("a channel", eddy_chan_deinit(&chan));
	USE("an event", eddy_event_set(&event));
	USE("an event", eddy_event_clear(&event));
	USE("an event", eddy_event_wait(&event));
	USE("a mutex", eddy_mutex_lock(&mutex));
	USE("a mutex", eddy_mutex_try_lock(&mutex));
	USE("a mutex", eddy_mutex_unlock(&mutex));
	USE("a semaphore", eddy_semaphore_acquire(&semaphore, 1));
	USE("a semaphore", eddy_semaphore_try_acquire(&semaphore, 1));
	USE("a semaphore", eddy_semaphore_release(&semaphore, 1));
	USE("a ticker", eddy_ticker_next(&ticker));
	USE("a scope", eddy_scope_spawn(&scope, "there", nothing, NULL));
	USE("a scope", eddy_scope_spawn_join(&scope, &other_join, "there", nothing, NULL));
	USE("a scope", eddy_scope_join(&scope));
	USE("a scope", eddy_scope_cancel(&scope));
	USE("a scope", eddy_scope_end(&scope));
	USE("a join", eddy_join_wait(&join, NULL));
	USE("a channel", eddy_select(one(eddy_case_chan_recv(&chan, &item)), 1));
	USE("a channel", eddy_select(one(eddy_case_chan_send(&chan, &item)), 1));
	USE("an event", eddy_select(one(eddy_case_event(&event)), 1));
	USE("a timer", eddy_timer_arm(&timer, EDDY_NEVER));
	USE("a timer", eddy_timer_disarm(&timer));
	USE("a timeout", eddy_timeout_arm(&timeout, &queue));
	USE("a timeout", eddy_timeout_arm(&timeout, &other_queue));
	USE("a timeout", eddy_timeout_touch(&timeout));
	USE("a timeout", eddy_timeout_disarm(&timeout));
	USE("a timeout queue", eddy_timeout_queue_deinit(&queue));
	USE("an op", eddy_op_start(&op, &sqe));
	USE("an op", eddy_op_cancel(&op));
	USE("a buffer group", eddy_buffers_prep_recv(&buffers, &sqe, 0));
	USE("a buffer group", eddy_buffers_prep_recv_some(&buffers, &sqe, 0, 1));
	USE("a buffer group", eddy_buffers_give_back(&buffers, IORING_CQE_F_BUFFER));
	USE("a buffer group", eddy_buffers_wait(&buffers, &waiter));
	USE("a buffer group", eddy_buffers_close(&buffers));
	return false;
}

static void fired(struct eddy_timer *timer)
{
	(void)timer;
}

static void expired(struct eddy_timeout *timeout)
{
	(void)timeout;
}

static void completed(struct eddy_op *op, int result, unsigned flags)
{
	(void)op;
	(void)result;
	(void)flags;
}

/* Before there is a loop. */
static void prepare(void)
{
	eddy_chan_init(&chan, sizeof(item), 2);
	eddy_event_init(&event);
	eddy_mutex_init(&mutex);
	eddy_mutex_init(&other_mutex);
	eddy_semaphore_init(&semaphore, 1);
	eddy_ticker_init(&ticker, 1);
	eddy_timeout_queue_init(&queue, EDDY_SECOND);
	eddy_timeout_queue_init(&other_queue, EDDY_SECOND);
	timer.fire = fired;
	timeout.expire = expired;
}

/* Use each, on the loop to which it belongs from then on. */
static void use_all(void)
{
	struct io_uring_sqe *poll;
	int fds[2];

	stream_pair(fds);
	eddy_chan_try_send(&chan, &item);
	eddy_event_clear(&event);
	eddy_mutex_lock(&mutex);
	eddy_semaphore_release(&semaphore, 1);
	eddy_ticker_next(&ticker);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn_join(&scope, &join, "here", nothing, NULL);
	eddy_timer_arm(&timer, EDDY_NEVER);
	eddy_timeout_arm(&timeout, &queue);
	poll = eddy_op_begin(&op, completed);
	io_uring_prep_poll_add(poll, fds[0], POLLIN);
	eddy_op_start(&op, poll);
	eddy_buffers_open(&buffers, NULL);
}

static int use_there(void *arg)
{
	struct use ignored;

	use(*(const unsigned *)arg, true, &ignored);
	return 0;
}

static int call_other(void *arg)
{
	return eddy_loops_index() == 0 ? eddy_loops_call(eddy_loops_at(1), "use", use_there, arg) :
					 0;
}

static int from_other_loop(void *arg)
{
	use_all();
	return eddy_loops_run(&(struct eddy_loops_options){ .count = 2,
							    .loop = { .name = "other" } },
			      call_other, arg);
}

static void *use_in_thread(void *arg)
{
	use_there(arg);
	return NULL;
}

static int from_thread(void *arg)
{
	pthread_t thread;

	use_all();
	if (pthread_create(&thread, NULL, use_in_thread, arg) == 0)
		pthread_join(thread, NULL);
	return 0;
}

static void expect_death(unsigned number, eddy_task_fn *fn, const struct use *use,
			 const char *where)
{
	char line[200];

	snprintf(line, sizeof(line), "runtime/own.c:%d: %s of loop [0-9]+ \"main\" is used on %s",
		 use->line, use->what, where);
	if (die_of(fn, &number, true, prepare) == SIGABRT && captured_lines(line) == 1)
		return;
	cr_assert(false, "no line is like this: %s\n%s", line, captured);
}

Test(own, no_two_loops_use_one)
{
	struct use one;
	unsigned count = 0;

	need_threads_in_a_child();
	for (; use(count, false, &one); count++)
		expect_death(count, from_other_loop, &one,
			     "loop [0-9]+ \"other\": give each loop its own, ");
	cr_expect_gt(count, 35);
}

Test(own, no_thread_without_a_loop_uses_one)
{
	struct use one;

	need_threads_in_a_child();
	for (unsigned i = 0; use(i, false, &one); i++)
		expect_death(i, from_thread, &one,
			     "a thread without a loop: wake tasks from threads by ");
}

static int set_offloaded(void *arg)
{
	eddy_event_set(arg);
	return 0;
}

static int offload_set(void *arg)
{
	eddy_event_clear(arg);
	return eddy_offload(set_offloaded, arg);
}

static void *set_by_pointer(void *arg)
{
	(eddy_event_set)(arg, NULL);
	return NULL;
}

static int thread_set_by_pointer(void *arg)
{
	pthread_t thread;

	eddy_event_clear(arg);
	if (pthread_create(&thread, NULL, set_by_pointer, arg) == 0)
		pthread_join(thread, NULL);
	return 0;
}

Test(own, no_offloaded_function_uses_one)
{
	need_threads_in_a_child();
	cr_expect_eq(die_of(offload_set, &event, true, prepare), SIGABRT);
	EXPECT_LINE(
		"an event of loop [0-9]+ \"main\" is used on a thread without a loop, in a job of "
		"eddy_offload\\(\\): use it in the task, after eddy_offload\\(\\) has returned");
	cr_expect_eq(die_of(thread_set_by_pointer, &event, true, prepare), SIGABRT);
	EXPECT_LINE("^eddy: an unknown place, called through a pointer: an event of loop");
	expect_report();
}

/* ---- without a loop ---- */

#define LACK(name, call)                                                                           \
	if (at++ == number) {                                                                      \
		*ret_use = (struct use){ name, __LINE__ };                                         \
		if (really)                                                                        \
			call;                                                                      \
		return true;                                                                       \
	}

/* Say what the call with this number names itself, NULL for its place, and make it, `really`. */
static bool lack(unsigned number, bool really, struct use *ret_use)
{
	struct eddy_timer unused = { .fire = fired };
	unsigned at = 0;

	LACK("eddy_sleep", eddy_sleep(1));
	LACK("eddy_yield", eddy_yield());
	LACK("eddy_recv", eddy_recv(-1, &item, 1, 0));
	LACK("eddy_close", eddy_close(9999));
	LACK("eddy_openat", eddy_openat(AT_FDCWD, "/dev/null", O_CREAT | O_RDONLY, 0600));
	LACK("eddy_accept", eddy_accept(-1, NULL, NULL));
	LACK("eddy_send_all", eddy_send_all(-1, "x", 1, 0));
	LACK("eddy_write_all", eddy_write_all(-1, "x", 1, 0));
	LACK("eddy_dial", eddy_dial("127.0.0.1:1", NULL));
	LACK("eddy_offload", eddy_offload(nothing, NULL));
	LACK(NULL, eddy_chan_recv(&chan, &item));
	LACK(NULL, eddy_semaphore_acquire(&semaphore, 2));
	LACK(NULL, eddy_mutex_lock(&mutex));
	LACK(NULL, eddy_mutex_try_lock(&mutex));
	LACK(NULL, eddy_event_wait(&event));
	LACK(NULL, eddy_ticker_next(&ticker));
	LACK(NULL, eddy_scope_begin(&scope, NULL));
	LACK(NULL, eddy_timer_arm(&unused, 1));
	LACK(NULL, eddy_select(one(eddy_case_chan_recv(&chan, &item)), 1));
	return false;
}

static int lack_one(void *arg)
{
	struct use ignored;

	lack(*(const unsigned *)arg, true, &ignored);
	return 0;
}

Test(own, no_call_is_made_without_a_loop)
{
	struct use use;
	char line[200];

	for (unsigned i = 0; lack(i, false, &use); i++) {
		if (use.what)
			snprintf(line, sizeof(line), "^eddy: %s\\(\\): this call needs a loop",
				 use.what);
		else
			snprintf(line, sizeof(line), "own.c:%d: this call needs a loop", use.line);
		if (die_of(lack_one, &i, false, prepare) != SIGABRT || captured_lines(line) != 1)
			cr_expect(false, "no line is like this: %s\n%s", line, captured);
	}
	expect_report();
}

/* ---- with EDDY_DEBUG: what no loop has used yet ---- */

static void *set_unused(void *arg)
{
	eddy_event_set(arg);
	eddy_event_clear(arg);
	(eddy_event_set)(arg, NULL);
	return NULL;
}

static int set_in_threads(void *arg)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, set_unused, arg) == 0)
			pthread_join(thread, NULL);
	return 0;
}

static unsigned warned_lines(const char *text)
{
	unsigned count = 0;

	for (const char *at = warned; (at = strstr(at, text)); at++)
		count++;
	return count;
}

/* A plain thread may prepare what its loop is going to use: a record, once for each place. */
Test(own, a_thread_that_uses_what_no_loop_has_is_told)
{
	struct eddy_event unused;

	eddy_event_init(&unused);
	debug_begin();
	/* No loop runs: that is how a program begins. */
	set_in_threads(&unused);
	cr_expect_str_empty(warned);
	expect_run(NULL, set_in_threads, &unused);
	eddy_log_unsubscribe();
	cr_expect(strstr(warned, "own.c:"), "%s", warned);
	cr_expect_eq(warned_lines(
			     ": an event is used on a thread without a loop while loops run, which "
			     "is a data race if a task uses it too: wake tasks from threads by a "
			     "shared event"),
		     3, "%s", warned);
	cr_expect_eq(warned_lines("an unknown place, called through a pointer: an event"), 1, "%s",
		     warned);
	cr_expect_eq(warned_lines("\n"), 3, "%s", warned);
}

static int send_one(void *arg)
{
	return eddy_chan_try_send(arg, &item);
}

/* Twice with the channel of its own loop, which has ended by the second time. */
static int run_in_job(void *arg)
{
	int r = eddy_run(NULL, send_one, arg);

	if (r == 0)
		r = eddy_chan_try_recv(arg, &item);
	eddy_chan_close(arg);
	eddy_chan_deinit(arg);
	return r;
}

static int send_in_job(void *arg)
{
	return eddy_chan_try_send(arg, &item);
}

static int offload_both(void *arg)
{
	struct eddy_chan unused;
	int r = eddy_offload(run_in_job, arg);

	EXPECT_EQ(r, 0);
	EXPECT(warned[0] == '\0');
	EXPECT_EQ(eddy_chan_init(&unused, sizeof(item), 1), 0);
	EXPECT_EQ(eddy_offload(send_in_job, &unused), 0);
	eddy_chan_deinit(&unused);
	return r;
}

Test(own, a_job_may_have_its_own)
{
	eddy_chan_init(&chan, sizeof(item), 1);
	debug_begin();
	expect_run(NULL, offload_both, &chan);
	eddy_log_unsubscribe();
	cr_expect(
		strstr(warned,
		       ": a channel is used on a thread without a loop, in a job of "
		       "eddy_offload() while loops run, which is a data race if a task uses it too: use it in "
		       "the task, after eddy_offload() has returned\n"),
		"%s", warned);
}

/* ---- at the end of a block ---- */

#define LEAVE(name, type, variable, fn)                                                            \
	if (at++ == number) {                                                                      \
		*ret_what = name;                                                                  \
		if (really) {                                                                      \
			EDDY_AUTO(fn) type copy = variable;                                        \
			(void)copy;                                                                \
		}                                                                                  \
		return true;                                                                       \
	}

/* Say what the use with this number is, and make it, `really`, by leaving a block. */
static bool leave(unsigned number, bool really, const char **ret_what)
{
	unsigned at = 0;

	LEAVE("a channel", struct eddy_chan, chan, eddy_chan_deinit);
	LEAVE("a channel", struct eddy_chan, chan, eddy_chan_close);
	LEAVE("a mutex", struct eddy_mutex, mutex, eddy_mutex_unlock);
	LEAVE("a scope", struct eddy_scope, scope, eddy_scope_end);
	LEAVE("a scope", struct eddy_scope, scope, eddy_scope_cancel);
	LEAVE("a timer", struct eddy_timer, timer, eddy_timer_disarm);
	LEAVE("a timeout", struct eddy_timeout, timeout, eddy_timeout_disarm);
	LEAVE("a timeout queue", struct eddy_timeout_queue, queue, eddy_timeout_queue_deinit);
	LEAVE("an op", struct eddy_op, op, eddy_op_cancel);
	LEAVE("a buffer group", struct eddy_buffers, buffers, eddy_buffers_close);
	return false;
}

static void *leave_in_thread(void *arg)
{
	const char *ignored;

	leave(*(const unsigned *)arg, true, &ignored);
	return NULL;
}

static int leave_from_thread(void *arg)
{
	pthread_t thread;

	use_all();
	if (pthread_create(&thread, NULL, leave_in_thread, arg) == 0)
		pthread_join(thread, NULL);
	return 0;
}

Test(own, a_block_ends_each_and_has_no_place)
{
	const char *what;
	char line[200];

	need_threads_in_a_child();
	for (unsigned i = 0; leave(i, false, &what); i++) {
		snprintf(
			line, sizeof(line),
			"^eddy: an unknown place, called through a pointer: %s of loop [0-9]+ \"main\"",
			what);
		cr_expect_eq(die_of(leave_from_thread, &i, true, prepare), SIGABRT);
		EXPECT_LINE(line);
	}
	expect_report();
}

static int until_cancelled(void *arg)
{
	eddy_event_wait(&event);
	*(int *)arg = eddy_is_cancelled();
	return 0;
}

static void expired_late(struct eddy_timeout *timeout)
{
	(void)timeout;
	cr_assert(false, "a timeout expires that was disarmed");
}

/* A leak, a panic or a use of what is gone tells of each that is not ended. */
TASK_TEST(own, a_block_ends_what_it_has_begun)
{
	int fds[2], was_cancelled = 0;

	stream_pair(fds);
	eddy_event_init(&event);
	{
		EDDY_AUTO(eddy_scope_end) struct eddy_scope inner = { 0 };
		EDDY_AUTO(eddy_chan_deinit) struct eddy_chan items = { 0 };
		EDDY_AUTO(eddy_timeout_queue_deinit) struct eddy_timeout_queue idle = { 0 };
		EDDY_AUTO(eddy_timeout_disarm)
		struct eddy_timeout soon = { .expire = expired_late };
		EDDY_AUTO(eddy_buffers_close) struct eddy_buffers own = { 0 };

		eddy_scope_begin(&inner, NULL);
		EXPECT_EQ(eddy_scope_spawn(&inner, "waits", until_cancelled, &was_cancelled), 0);
		EXPECT_EQ(eddy_chan_init(&items, sizeof(item), 1), 0);
		eddy_timeout_queue_init(&idle, 60 * EDDY_SECOND);
		eddy_timeout_arm(&soon, &idle);
		EXPECT_EQ(eddy_buffers_open(&own, NULL), 0);
	}
	EXPECT_EQ(was_cancelled, 1);
	eddy_close(fds[0]);
	eddy_close(fds[1]);
	return 0;
}

TASK_TEST(own, what_ends_is_a_pointer_of_one_parameter)
{
	void (*unlock)(struct eddy_mutex *) = eddy_mutex_unlock;
	int (*end)(struct eddy_scope *) = eddy_scope_end;
	struct eddy_scope inner;

	eddy_mutex_init(&mutex);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	unlock(&mutex);
	EXPECT(!mutex.holder);
	eddy_scope_begin(&inner, NULL);
	eddy_scope_cancel(&inner);
	EXPECT_EQ(end(&inner), -ECANCELED);
	return 0;
}

/* ---- what may be ---- */

static int take_and_put(void *arg)
{
	int r = eddy_semaphore_acquire(arg, 1);

	if (r == 0)
		eddy_semaphore_release(arg, 1);
	return r;
}

/* What was made before there is a loop belongs to the first that uses it; when that has ended, to the next. */
Test(own, loops_use_one_after_the_other)
{
	eddy_semaphore_init(&semaphore, 0);
	eddy_semaphore_release(&semaphore, 1);
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(eddy_run(NULL, take_and_put, &semaphore), 0);
		eddy_semaphore_release(&semaphore, 1);
	}
	cr_expect_eq(semaphore.count, 4);
}

static int use_once(void *arg)
{
	return eddy_loops_index() == 1 ? take_and_put(arg) : 0;
}

/* Neither does it matter who has made it. */
TASK_TEST(own, another_loop_may_be_the_first)
{
	const struct eddy_loops_options two = { .count = 2 };

	eddy_semaphore_init(&semaphore, 1);
	EXPECT_EQ(eddy_loops_run(&two, use_once, &semaphore), 0);
	/* That loop is no more. */
	EXPECT_EQ(take_and_put(&semaphore), 0);
	return 0;
}
