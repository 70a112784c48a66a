#include "expect.h"
#include "transfer/pipe.h"

#include <eddy/buffers.h>
#include <eddy/event.h>
#include <eddy/file.h>
#include <eddy/io.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

/* --- messages */

#define THREADS 4

struct counter {
	struct eddy_event all;
	size_t delivered, wanted;
	bool in_order;
};

struct numbered {
	struct eddy_message message;
	struct counter *counter;
	size_t *last;
	size_t number;
};

static void count(struct eddy_message *message)
{
	struct numbered *numbered = (struct numbered *)message;
	struct counter *counter = numbered->counter;

	if (numbered->number != *numbered->last + 1)
		counter->in_order = false;
	*numbered->last = numbered->number;
	if (++counter->delivered == counter->wanted)
		eddy_event_set(&counter->all);
	free(numbered);
}

struct poster {
	pthread_t thread;
	struct eddy_loop *loop;
	struct counter *counter;
	size_t messages, last;
};

static void *post_many(void *arg)
{
	struct poster *poster = arg;

	for (size_t i = 1; i <= poster->messages; i++) {
		struct numbered *numbered = malloc(sizeof(*numbered));

		*numbered = (struct numbered){
			.message = { .deliver = count },
			.counter = poster->counter,
			.last = &poster->last,
			.number = i,
		};
		eddy_loop_post(poster->loop, &numbered->message);
		/* Now and then let the loop fall asleep. */
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

TASK_TEST(loop, no_message_is_lost_and_each_threads_are_in_order)
{
	size_t messages = RUNNING_ON_VALGRIND ? 500 : 25000;
	struct poster posters[THREADS];
	struct counter counter = { .wanted = THREADS * messages, .in_order = true };

	eddy_event_init(&counter.all);
	for (int i = 0; i < THREADS; i++) {
		posters[i] = (struct poster){ .loop = eddy_loop_self(),
					      .counter = &counter,
					      .messages = messages };
		EXPECT_EQ(pthread_create(&posters[i].thread, NULL, post_many, &posters[i]), 0);
	}
	EXPECT_EQ(eddy_event_wait(&counter.all), 0);
	EXPECT_EQ(counter.delivered, counter.wanted);
	EXPECT(counter.in_order);
	for (int i = 0; i < THREADS; i++)
		pthread_join(posters[i].thread, NULL);
	return 0;
}

/* One message at a time, each to a loop that sleeps or is about to. */
struct ping {
	struct eddy_message message;
	struct eddy_event came;
	struct eddy_loop *loop;
	int fd;
};

static void ping_came(struct eddy_message *message)
{
	eddy_event_set(&((struct ping *)message)->came);
}

static void *answer(void *arg)
{
	struct ping *ping = arg;
	uint64_t value;

	while (read(ping->fd, &value, sizeof(value)) == sizeof(value) && value == 1)
		eddy_loop_post(ping->loop, &ping->message);
	return NULL;
}

TASK_TEST(loop, sleeping_loop_is_woken_each_time)
{
	struct ping ping = { .message = { .deliver = ping_came },
			     .loop = eddy_loop_self(),
			     .fd = eventfd(0, EFD_CLOEXEC) };
	uint64_t one = 1, end = 2;
	pthread_t thread;

	eddy_event_init(&ping.came);
	EXPECT_EQ(pthread_create(&thread, NULL, answer, &ping), 0);
	for (int i = 0; i < 500; i++) {
		EXPECT_EQ(write(ping.fd, &one, sizeof(one)), sizeof(one));
		EXPECT_EQ(eddy_event_wait(&ping.came), 0);
		eddy_event_clear(&ping.came);
	}
	EXPECT_EQ(write(ping.fd, &end, sizeof(end)), sizeof(end));
	pthread_join(thread, NULL);
	close(ping.fd);
	return 0;
}

static struct ping *handled;

static void post_handled(int signo)
{
	(void)signo;
	eddy_loop_post(handled->loop, &handled->message);
}

struct killer {
	pthread_t target;
	int pipe[2];
};

/* Signals the target for each byte. */
static void *kill_target(void *arg)
{
	struct killer *killer = arg;
	char byte;

	while (read(killer->pipe[0], &byte, 1) == 1)
		pthread_kill(killer->target, SIGUSR1);
	return NULL;
}

static void *pause_until_closed(void *arg)
{
	char byte;

	/* Interrupted, and made again. */
	while (read(*(int *)arg, &byte, 1) != 0)
		;
	return NULL;
}

static void post_by_handler(struct ping *ping, struct killer *killer, pthread_t target)
{
	for (int i = 0; i < 200; i++) {
		killer->target = target;
		EXPECT_EQ(write(killer->pipe[1], "", 1), 1);
		EXPECT_EQ(eddy_event_wait(&ping->came), 0);
		eddy_event_clear(&ping->came);
	}
}

/* On this loop's own thread, which sleeps or not, and on one that has none. */
static int take_posts_of_handlers(__attribute__((unused)) void *arg)
{
	struct ping ping = { .message = { .deliver = ping_came }, .loop = eddy_loop_self() };
	struct sigaction before, action = { .sa_handler = post_handled };
	struct killer killer;
	pthread_t kills, pauses;
	int closed[2];

	handled = &ping;
	eddy_event_init(&ping.came);
	EXPECT_EQ(pipe2(killer.pipe, O_CLOEXEC), 0);
	EXPECT_EQ(pipe2(closed, O_CLOEXEC), 0);
	sigaction(SIGUSR1, &action, &before);
	EXPECT_EQ(pthread_create(&kills, NULL, kill_target, &killer), 0);
	EXPECT_EQ(pthread_create(&pauses, NULL, pause_until_closed, &closed[0]), 0);
	post_by_handler(&ping, &killer, pauses);
	post_by_handler(&ping, &killer, pthread_self());
	for (int i = 0; i < 10; i++) {
		raise(SIGUSR1);
		EXPECT_EQ(eddy_event_wait(&ping.came), 0);
		eddy_event_clear(&ping.came);
	}
	close(killer.pipe[1]);
	close(closed[1]);
	pthread_join(kills, NULL);
	pthread_join(pauses, NULL);
	close(killer.pipe[0]);
	close(closed[0]);
	sigaction(SIGUSR1, &before, NULL);
	return 0;
}

Test(loop, is_posted_to_by_handlers_of_signals)
{
	if (EDDYI_TSAN)
		cr_skip_test(
			"ThreadSanitizer keeps signals back until a call that it knows, which no call of liburing is");
	expect_run(NULL, take_posts_of_handlers, NULL);
}

/* What a handler finds when its signal comes as the loop falls asleep: an entry may be too late for this time. */
TASK_TEST(loop, that_falls_asleep_is_not_woken_by_its_own_ring)
{
	struct eddy_loop *loop = eddy_loop_self();
	struct ping ping = { .message = { .deliver = ping_came } };
	unsigned ready = io_uring_sq_ready(&loop->ring);

	eddy_event_init(&ping.came);
	atomic_store(&loop->sleeping, true);
	eddy_loop_post(loop, &ping.message);
	EXPECT_EQ(io_uring_sq_ready(&loop->ring), ready);
	EXPECT(!atomic_load(&loop->sleeping));
	EXPECT_EQ(eddy_event_wait(&ping.came), 0);
	return 0;
}

TASK_TEST(loop, posts_to_itself)
{
	struct ping ping = { .message = { .deliver = ping_came } };

	eddy_event_init(&ping.came);
	for (int i = 0; i < 10; i++) {
		eddy_loop_post(eddy_loop_self(), &ping.message);
		EXPECT(!ping.came.is_set);
		EXPECT_EQ(eddy_event_wait(&ping.came), 0);
		eddy_event_clear(&ping.came);
	}
	return 0;
}

static int yield_often(void *arg)
{
	for (int i = 0; i < 1000; i++)
		eddy_yield();
	return eddy_loop_self() != arg;
}

static void *run_a_loop(void *arg)
{
	return eddy_run(NULL, yield_often, arg) == 1 ? arg : NULL;
}

TASK_TEST(loop, each_thread_has_its_own)
{
	struct eddy_loop *ours = eddy_loop_self();
	pthread_t threads[THREADS];
	void *result;

	for (int i = 0; i < THREADS; i++)
		EXPECT_EQ(pthread_create(&threads[i], NULL, run_a_loop, ours), 0);
	for (int i = 0; i < THREADS; i++) {
		eddy_yield();
		pthread_join(threads[i], &result);
		EXPECT_EQ(result, ours);
	}
	EXPECT_EQ(eddy_loop_self(), ours);
	return 0;
}

/* --- the end */

static void nudge(struct eddy_op *op, int result, unsigned flags)
{
	uint64_t one = 1;

	(void)op;
	(void)result;
	(void)flags;
	EXPECT_EQ(write(eddyi_loop()->wake_fd, &one, sizeof(one)), sizeof(one));
}

static struct eddy_op nop;

/* A wake-up that completes while the loop's end cancels it. */
static int end_with_a_wake_up(__attribute__((unused)) void *arg)
{
	struct io_uring_sqe *sqe;

	nudge(NULL, 0, 0);
	sqe = eddy_op_begin(&nop, nudge);
	io_uring_prep_nop(sqe);
	eddy_op_start(&nop, sqe);
	eddyi_loop_enter(eddyi_loop());
	return 0;
}

Test(loop, ends_though_it_is_woken)
{
	for (int i = 0; i < 20; i++)
		expect_run(NULL, end_with_a_wake_up, NULL);
}

static int sleep_a_little(__attribute__((unused)) void *arg)
{
	return eddy_sleep(1);
}

Test(loop, ends_at_once)
{
	uint64_t before = eddy_now();

	/* Pooled stacks would be looked at a second later. */
	for (int i = 0; i < 5; i++)
		expect_run(NULL, sleep_a_little, NULL);
	cr_expect_lt(eddy_now() - before, 4 * EDDY_SECOND);
}

/* --- time */

static void *post_later(void *arg)
{
	struct ping *ping = arg;

	usleep(30000);
	eddy_loop_post(ping->loop, &ping->message);
	return NULL;
}

static uint64_t processor_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * EDDY_SECOND + (uint64_t)ts.tv_nsec;
}

/* The kernel adds its clock to how long we wait: what overflowed there would be over at once. */
TASK_TEST(loop, endless_sleep_costs_nothing)
{
	struct ping ping = { .message = { .deliver = ping_came }, .loop = eddy_loop_self() };
	struct eddy_timer never = { .fire = NULL };
	pthread_t thread;
	uint64_t before, used;

	eddy_event_init(&ping.came);
	eddy_timer_disarm(&eddyi_loop()->trim_timer);
	eddy_timer_arm(&never, EDDY_NEVER);
	EXPECT_EQ(pthread_create(&thread, NULL, post_later, &ping), 0);
	before = processor_time();
	EXPECT_EQ(eddy_event_wait(&ping.came), 0);
	used = processor_time() - before;
	EXPECT(used < 15 * EDDY_MS);
	eddy_timer_disarm(&never);
	pthread_join(thread, NULL);
	return 0;
}

static int yield_until(void *arg)
{
	int yields = 0;

	while (!*(volatile bool *)arg && yields < 10000000) {
		eddy_yield();
		yields++;
	}
	return yields < 10000000 ? 0 : -ETIME;
}

struct flagged {
	struct eddy_op op;
	struct eddy_timer timer;
	struct eddy_message message;
	bool is_set;
};

static void set_true(struct eddy_op *op, int result, unsigned flags)
{
	(void)result;
	(void)flags;
	eddy_of(op, struct flagged, op)->is_set = true;
}

static void set_by_timer(struct eddy_timer *timer)
{
	eddy_of(timer, struct flagged, timer)->is_set = true;
}

static void set_by_message(struct eddy_message *message)
{
	eddy_of(message, struct flagged, message)->is_set = true;
}

/* A task that never waits starves neither completions nor timers nor messages. */
TASK_TEST(loop, busy_task_starves_nobody)
{
	struct flagged by_op = { 0 }, by_timer = { .timer = { .fire = set_by_timer } },
		       by_message = { .message = { .deliver = set_by_message } };
	struct io_uring_sqe *sqe = eddy_op_begin(&by_op.op, set_true);

	io_uring_prep_nop(sqe);
	eddy_op_start(&by_op.op, sqe);
	EXPECT_EQ(yield_until(&by_op.is_set), 0);
	eddy_timer_arm(&by_timer.timer, eddy_now() + EDDY_MS);
	EXPECT_EQ(yield_until(&by_timer.is_set), 0);
	eddy_loop_post(eddy_loop_self(), &by_message.message);
	EXPECT_EQ(yield_until(&by_message.is_set), 0);
	return 0;
}

static int turns_seen;

static int resume_forever(void *arg)
{
	bool *stop = arg;

	for (turns_seen = 0; !*stop; turns_seen++)
		eddy_yield();
	return 0;
}

/* Bytes that come from outside, which only an enter with GETEVENTS lets in. */
TASK_TEST(loop, completions_come_in_within_a_turn)
{
	struct eddy_scope scope;
	bool stop = false;
	int fds[2];
	char byte;

	stream_pair(fds);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "busy", resume_forever, &stop);
	EXPECT_EQ(eddy_send(fds[1], "x", 1, 0), 1);
	turns_seen = 0;
	EXPECT_EQ(eddy_recv(fds[0], &byte, 1, 0), 1);
	EXPECT(turns_seen <= 3 * 64);
	stop = true;
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	close(fds[0]);
	close(fds[1]);
	return eddy_scope_end(&scope);
}

TASK_TEST(loop, clock_of_the_turn)
{
	uint64_t turn = eddy_loop_now();

	EXPECT(turn <= eddy_now());
	EXPECT_EQ(eddy_loop_now(), turn);
	EXPECT_EQ(eddy_sleep(EDDY_MS), 0);
	EXPECT(eddy_loop_now() >= turn + EDDY_MS);
	return 0;
}

/* Where no timer waits, a turn reads a clock that is cheap and late: whoever asks gets the real one. */
TASK_TEST(loop, clock_of_a_turn_without_timers)
{
	for (int i = 0; i < 3; i++) {
		uint64_t before = eddy_now();
		struct eddy_op op;
		struct io_uring_sqe *sqe = eddy_op_begin_await(&op);

		EXPECT(!eddy_loop_self()->timers.top);
		io_uring_prep_nop(sqe);
		EXPECT_EQ(eddy_op_await(&op, sqe), 0);
		EXPECT(eddy_loop_now() >= before);
	}
	return 0;
}

/* --- what a child process would inherit */

#define FDS 1024

static bool was_open[FDS];

static int use_descriptors(__attribute__((unused)) void *arg)
{
	struct open_how how = { .flags = O_RDONLY };
	struct sockaddr_in addr;
	struct eddyi_pipe *pipe;
	int listener = tcp_listen(&addr, 1), peer, ours = 0;

	fcntl(listener, F_SETFD, FD_CLOEXEC);
	peer = tcp_connect(&addr);
	EXPECT(eddy_accept(listener, NULL, NULL) >= 0);
	EXPECT(eddy_openat2(AT_FDCWD, "/dev/null", &how) >= 0);
	EXPECT_EQ(eddyi_pipe_take(&pipe), 0);
	EXPECT_EQ(eddy_buffers_prepare(), 0);
	for (int fd = 0; fd < FDS; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (was_open[fd] || flags < 0)
			continue;
		EXPECT(flags & FD_CLOEXEC);
		ours++;
	}
	/* Those six, and the loop's own: its ring, its eventfd. */
	EXPECT(ours >= 6 + 2);
	EXPECT(!was_open[eddyi_loop()->wake_fd]);
	eddyi_pipe_put(pipe);
	close(listener);
	close(peer);
	return 0;
}

Test(loop, descriptors_are_not_inherited)
{
	for (int fd = 0; fd < FDS; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
	expect_run(NULL, use_descriptors, NULL);
}

/* --- each turn looks at the kernel, and at the clock */

struct reader {
	int fd;
	bool got;
};

static int read_one(void *arg)
{
	struct reader *reader = arg;
	char byte;

	EXPECT_EQ(eddy_recv(reader->fd, &byte, 1, 0), 1);
	reader->got = true;
	return 0;
}

/* The receive was armed before: its completion is work that the kernel does at an enter with
 * GETEVENTS only. */
TASK_TEST(loop, ready_tasks_do_not_keep_completions_out)
{
	struct eddy_scope scope;
	struct reader reader = { 0 };
	int fds[2], yields = 0;

	stream_pair(fds);
	reader.fd = fds[0];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "reader", read_one, &reader);
	expect_turns(5);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	while (!reader.got && yields++ < 64 * 100)
		eddy_yield();
	EXPECT(reader.got);
	close(fds[0]);
	close(fds[1]);
	return eddy_scope_end(&scope);
}

static int spun, spun_at_fire;

static int spin(__attribute__((unused)) void *arg)
{
	uint64_t until = eddy_now() + 200 * EDDY_US;

	while (eddy_now() < until)
		;
	spun++;
	return 0;
}

static void note_spun(__attribute__((unused)) struct eddy_timer *timer)
{
	spun_at_fire = spun;
}

/* Forty tasks of 200 us are no single turn. */
TASK_TEST(loop, turns_end_after_a_while)
{
	struct eddy_timer timer = { .fire = note_spun };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 40; i++)
		eddy_scope_spawn(&scope, "spins", spin, NULL);
	eddy_timer_arm(&timer, eddy_now() + 1);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(spun, 40);
	EXPECT(spun_at_fire > 0 && spun_at_fire < 40);
	return eddy_scope_end(&scope);
}

/* A message that is delivered while a loop ends may post to another one, which sleeps. */
struct last_words {
	struct eddy_message first, second, news;
	struct eddy_loop *to;
	struct eddy_event heard;
};

static void deliver_news(struct eddy_message *message)
{
	eddy_event_set(&eddy_of(message, struct last_words, news)->heard);
}

static void deliver_second(struct eddy_message *message)
{
	struct last_words *words = eddy_of(message, struct last_words, second);

	while (!atomic_load(&words->to->sleeping))
		sched_yield();
	eddy_loop_post(words->to, &words->news);
}

static void deliver_first(struct eddy_message *message)
{
	eddy_loop_post(eddy_loop_self(), &eddy_of(message, struct last_words, first)->second);
}

static int speak_and_end(void *arg)
{
	eddy_loop_post(eddy_loop_self(), arg);
	return 0;
}

static void *run_and_end(void *arg)
{
	return eddy_run(NULL, speak_and_end, arg) == 0 ? arg : NULL;
}

TASK_TEST(loop, messages_of_its_end_wake_another)
{
	struct last_words words = {
		.first = { .deliver = deliver_first },
		.second = { .deliver = deliver_second },
		.news = { .deliver = deliver_news },
		.to = eddy_loop_self(),
	};
	struct eddy_scope scope;
	pthread_t thread;

	eddy_event_init(&words.heard);
	EXPECT_EQ(pthread_create(&thread, NULL, run_and_end, &words.first), 0);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 5 * EDDY_SECOND });
	EXPECT_EQ(eddy_event_wait(&words.heard), 0);
	eddy_scope_end(&scope);
	pthread_join(thread, NULL);
	return 0;
}
