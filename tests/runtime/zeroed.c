/* Objects of all zero bytes, which were never made: ending them does nothing, using them is refused. */
#include "../on_tsan.h"
#include "capture.h"
#include "expect.h"

#include <eddy/buffers.h>
#include <eddy/chan.h>
#include <eddy/join.h>
#include <eddy/loop.h>
#include <eddy/mutex.h>
#include <eddy/process.h>
#include <eddy/select.h>
#include <eddy/semaphore.h>
#include <eddy/shared_event.h>
#include <eddy/signal.h>
#include <eddy/ticker.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void end_all(void)
{
	EDDY_AUTO(eddy_chan_deinit) struct eddy_chan left = { 0 };
	struct eddy_chan chan = { 0 };
	struct eddy_timeout_queue queue = { 0 };
	struct eddy_timeout timeout = { 0 };
	struct eddy_timer timer = { 0 };
	struct eddy_buffers buffers = { 0 };
	struct eddy_scope scope = { 0 };
	struct eddy_signals signals = { 0 };
	struct eddy_process process = { 0 };
	struct eddy_process_output output = { 0 };

	(void)left;
	eddy_chan_close(&chan);
	eddy_chan_deinit(&chan);
	eddy_timeout_disarm(&timeout);
	eddy_timeout_queue_deinit(&queue);
	eddy_timer_disarm(&timer);
	eddy_buffers_close(&buffers);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	eddy_signals_close(&signals);
	eddy_process_close(&process);
	eddy_process_release(&process);
	eddy_process_output_deinit(&output);
	/* 0 was a descriptor, of stdin, and none of theirs. */
	EXPECT(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

TASK_TEST(zeroed, ends_without_having_begun)
{
	end_all();
	return 0;
}

Test(zeroed, ends_so_without_a_loop)
{
	end_all();
	expect_report();
}

/* Closed standard descriptors are no reason for signals to have the number that means none. */
Test(zeroed, is_no_number_of_signals)
{
	struct eddy_signals signals;
	int kept = dup(STDIN_FILENO);

	close(STDIN_FILENO);
	cr_assert_eq(eddy_signals_open((int[]){ SIGUSR1, 0 }, &signals), 0);
	cr_expect_gt(signals.fd, STDERR_FILENO);
	cr_expect_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	eddy_signals_close(&signals);
	dup2(kept, STDIN_FILENO);
	cr_expect_eq(eddy_signals_next(&(struct eddy_signals){ 0 }), -EBADF);
}

/* ---- uses ---- */

#define USE(what, init, call)                                                                      \
	if (at++ == number) {                                                                      \
		snprintf(ret_line, size,                                                           \
			 "%s:%d: %s is not initialised: call %s"                                   \
			 "\\(\\) first",                                                           \
			 "zeroed.c", __LINE__, what, init);                                        \
		if (really)                                                                        \
			call;                                                                      \
		return true;                                                                       \
	}

/* Say what the use with this number says, and make it, `really`. Return: whether there is one. */
static bool use(unsigned number, bool really, char *ret_line, size_t size)
{
	static struct eddy_chan chan;
	static struct eddy_event event;
	static struct eddy_mutex mutex;
	static struct eddy_semaphore semaphore;
	static struct eddy_ticker ticker;
	static struct eddy_scope scope;
	static struct eddy_join join;
	static struct eddy_timeout timeout;
	static struct eddy_timeout_queue queue;
	static struct eddy_buffers buffers;
	static struct eddy_buffers_waiter waiter;
	static struct eddy_case one;
	unsigned at = 0;
	char item = 0;

	USE("a channel", "eddy_chan_init", eddy_chan_send(&chan, &item));
	USE("a channel", "eddy_chan_init", eddy_chan_recv(&chan, &item));
	USE("a channel", "eddy_chan_init", eddy_chan_try_send(&chan, &item));
	USE("a channel", "eddy_chan_init", eddy_chan_try_recv(&chan, &item));
	one = eddy_case_chan_recv(&chan, &item);
	USE("a channel", "eddy_chan_init", eddy_select(&one, 1));
	USE("an event", "eddy_event_init", eddy_event_set(&event));
	USE("an event", "eddy_event_init", eddy_event_clear(&event));
	USE("an event", "eddy_event_init", eddy_event_wait(&event));
	one = eddy_case_event(&event);
	USE("an event", "eddy_event_init", eddy_select(&one, 1));
	USE("a mutex", "eddy_mutex_init", eddy_mutex_lock(&mutex));
	USE("a mutex", "eddy_mutex_init", eddy_mutex_try_lock(&mutex));
	USE("a mutex", "eddy_mutex_init", eddy_mutex_unlock(&mutex));
	USE("a semaphore", "eddy_semaphore_init", eddy_semaphore_acquire(&semaphore, 1));
	USE("a semaphore", "eddy_semaphore_init", eddy_semaphore_try_acquire(&semaphore, 1));
	USE("a semaphore", "eddy_semaphore_init", eddy_semaphore_release(&semaphore, 1));
	USE("a ticker", "eddy_ticker_init", eddy_ticker_next(&ticker));
	USE("a scope", "eddy_scope_begin", eddy_scope_join(&scope));
	USE("a scope", "eddy_scope_begin", eddy_scope_cancel(&scope));
	USE("a scope", "eddy_scope_begin", eddy_scope_spawn(&scope, "never", NULL, NULL));
	USE("a scope", "eddy_scope_begin", eddy_scope_spawn_join(&scope, &join, "x", 0, 0));
	USE("a join", "eddy_scope_spawn_join", eddy_join_wait(&join, NULL));
	USE("a timeout", "eddy_timeout_queue_init", eddy_timeout_arm(&timeout, &queue));
	USE("a buffer group", "eddy_buffers_open", eddy_buffers_wait(&buffers, &waiter));
	return false;
}

static int use_in_task(void *arg)
{
	char ignored[200];

	use(*(const unsigned *)arg, true, ignored, sizeof(ignored));
	return 0;
}

static void expect_deaths(bool in_loop)
{
	unsigned count = 0;
	char line[200];

	for (; use(count, false, line, sizeof(line)); count++)
		if (die_of(use_in_task, &count, in_loop, NULL) != SIGABRT ||
		    captured_lines(line) != 1)
			cr_expect(false, "no line is like this: %s\n%s", line, captured);
	cr_expect_gt(count, 20);
	expect_report();
}

Test(zeroed, is_not_used)
{
	expect_deaths(true);
}

/* Also where it would belong to no loop. */
Test(zeroed, is_not_used_without_a_loop)
{
	expect_deaths(false);
}

static int set_shared(void *arg)
{
	eddy_shared_event_set(arg);
	return 0;
}

static int wait_shared(void *arg)
{
	return eddy_shared_event_wait(arg);
}

Test(zeroed, is_no_shared_event)
{
	static struct eddy_shared_event event;
	static const char said[] = "^eddy: eddy_shared_event_(set|wait)\\(\\): a shared event is "
				   "not initialised: call eddy_shared_event_init\\(\\) first";

	cr_expect_eq(die_of(set_shared, &event, true, NULL), SIGABRT);
	EXPECT_LINE(said);
	cr_expect_eq(die_of(wait_shared, &event, true, NULL), SIGABRT);
	EXPECT_LINE(said);
	expect_report();
}

static int kill_process(void *arg)
{
	return eddy_process_kill(arg, 0);
}

static int wait_process(void *arg)
{
	return eddy_process_wait(arg, NULL);
}

/* Not that of descriptor 0. */
Test(zeroed, is_no_process)
{
	static struct eddy_process process;

	cr_expect_eq(die_of(kill_process, &process, true, NULL), SIGABRT);
	EXPECT_LINE(
		"^eddy: eddy_process_kill\\(\\): the process was closed or never started before the "
		"signal");
	cr_expect_eq(die_of(wait_process, &process, true, NULL), SIGABRT);
	EXPECT_LINE(
		"^eddy: eddy_process_wait\\(\\): the process was closed or never started before the "
		"wait");
	expect_report();
}
