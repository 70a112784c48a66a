#include "capture.h"
#include "failing.h"
#include "core/executor.h"

#include <eddy/chan.h>
#include <eddy/dump.h>
#include <eddy/internal/debug.h>
#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/mutex.h>
#include <eddy/offload.h>
#include <eddy/serve.h>
#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void dump(void)
{
	int fd = capture_open();

	EXPECT_EQ(eddy_dump(fd), 0);
	capture_close(fd);
}

static void dump_all(void)
{
	int fd = capture_open();

	EXPECT_EQ(eddy_dump_all(fd), 0);
	capture_close(fd);
}

/* --- the tree */

static struct eddy_event go_on;

static int wait_for_event(__attribute__((unused)) void *arg)
{
	return eddy_event_wait(&go_on);
}

static int sleep_long(__attribute__((unused)) void *arg)
{
	return eddy_sleep(EDDY_SECOND * 1000);
}

static int receive(void *arg)
{
	char byte;

	return (int)eddy_recv(*(int *)arg, &byte, 1, 0);
}

static int guarded(__attribute__((unused)) void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .shielded = true });
	eddy_scope_spawn(&scope, "inner", wait_for_event, NULL);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

/* A tree of all sorts. `check` looks at its dump. */
static int draw(const char *waiter, void (*check)(void))
{
	struct eddy_scope outer, inner;
	int fds[2];

	eddy_event_init(&go_on);
	stream_pair(fds);
	eddy_scope_begin(&outer, &(struct eddy_scope_options){ .timeout_ns = 500 * EDDY_SECOND,
							       .fail_fast = true });
	eddy_scope_spawn(&outer, "reader", receive, &fds[0]);
	eddy_scope_spawn(&outer, "guard", guarded, NULL);
	eddy_scope_begin(&inner, NULL);
	eddy_scope_spawn(&inner, waiter, wait_for_event, NULL);
	expect_turns(2);
	eddy_scope_spawn(&inner, "new", sleep_long, NULL);
	dump();
	check();
	eddy_event_set(&go_on);
	eddy_scope_cancel(&inner);
	dump();
	EXPECT_LINE("^      └─ scope, cancelled, failed with ECANCELED$");
	eddy_scope_end(&inner);
	EXPECT_EQ(eddy_send(fds[1], "x", 1, 0), 1);
	eddy_scope_join(&outer);
	close(fds[0]);
	close(fds[1]);
	return eddy_scope_end(&outer);
}

static void expect_tree(void)
{
	EXPECT_LINE("^eddy: loop [0-9]+ \"main\" \\(thread [0-9]+\\): 6 tasks, 0 pooled; "
		    "1 ops, 0 of them without a task; 1 timers$");
	EXPECT_LINE("^└─ #1 \"main\" \\(eddy_run\\(\\)\\), stack [0-9]+ KiB: runs$");
	EXPECT_LINE("^   └─ scope, 49[0-9] s left, fail-fast$");
	EXPECT_LINE("^      ├─ #2 \"reader\" \\(tests/runtime/dump.c:[0-9]+\\), stack [0-9]+ KiB: "
		    "recv on [0-9]+ \\(unix socket\\), for [0-9]+ [mu]s$");
	EXPECT_LINE("^      ├─ #3 \"guard\" .*: scope join, for ");
	EXPECT_LINE("^      │  └─ scope, shielded$");
	EXPECT_LINE("^      │     └─ #5 \"inner\" .*: event 0x[0-9a-f]+, for ");
	EXPECT_LINE("^      └─ scope$");
	EXPECT_LINE("^         ├─ #4 \"waiter [?][?]\" .*: event 0x");
	EXPECT_LINE("^         └─ #6 \"new\" .*: ready$");
	/* Under chaos a call that was interrupted is made again, and counts again. */
	EXPECT_LINE("tasks spawned 6, ops [2-9], ");
	EXPECT_LINE("deepest stack: [0-9]+ of 256 KiB, ");
}

TASK_TEST(dump, draws_the_tree)
{
	return draw("waiter \"\n", expect_tree);
}

TASK_TEST(dump, says_of_a_task_that_its_place_is_unknown)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	EXPECT_EQ((eddy_scope_spawn)(&scope, "pointed", sleep_long, NULL, NULL), 0);
	eddy_yield();
	dump();
	EXPECT_LINE("#2 \"pointed\" \\(an unknown place, called through a pointer\\), stack ");
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	return 0;
}

TASK_TEST(dump, says_what_a_task_works_on)
{
	eddyi_task_set_label("GET /users/{id}");
	dump();
	eddyi_task_set_label(NULL);
	EXPECT_LINE("#1 \"main\" \\(GET /users/\\{id\\}\\), stack [0-9]+ KiB: runs$");
	dump();
	EXPECT_LINE("#1 \"main\" \\(eddy_run\\(\\)\\), stack ");
	return 0;
}

/* Replace what differs from run to run: numbers by #, units of time by t, and whose stack is the deepest. */
static void mask(char *text)
{
	static const char deepest[] = "deepest stack: # of # KiB, ";
	char *to = text;

	for (const char *from = text; *from;) {
		if (strncmp(from, "0x", 2) == 0)
			from += 2 + strspn(from + 2, "0123456789abcdef"), *to++ = '#';
		else if (isdigit((unsigned char)*from))
			from += strspn(from, "0123456789"), *to++ = '#';
		else if (strncmp(from, "us\n", 3) == 0 || strncmp(from, "ms\n", 3) == 0)
			from += 2, *to++ = 't';
		else
			*to++ = *from++;
	}
	*to = '\0';
	to = strstr(text, deepest);
	if (to)
		to[sizeof(deepest) - 1] = '\0';
}

static void expect_what_docs_show(void)
{
	static char page[64 * 1024];
	FILE *file = fopen(EDDY_DOCS "/seeing.md", "r");
	char *block, *end;

	EXPECT(file);
	if (!file)
		return;
	page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
	fclose(file);
	block = strstr(page, "\neddy: loop ");
	end = block ? strstr(block, "```") : NULL;
	EXPECT(end);
	if (!end)
		return;
	*end = '\0';
	mask(++block);
	mask(captured);
	EXPECT(strcmp(block, captured) == 0);
	if (strcmp(block, captured) != 0)
		fprintf(stderr, "%s\nis not what docs/seeing.md has:\n%s\n", captured, block);
}

TASK_TEST(dump, is_what_the_docs_show)
{
	return draw("waiter", expect_what_docs_show);
}

static int lock(void *arg)
{
	int r = eddy_mutex_lock(arg);

	if (r == 0)
		eddy_mutex_unlock(arg);
	return r;
}

TASK_TEST(dump, says_who_holds_a_mutex)
{
	struct eddy_mutex mutex;
	struct eddy_scope scope;

	eddy_mutex_init(&mutex);
	EXPECT_EQ(eddy_mutex_lock(&mutex), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waits", lock, &mutex);
	expect_turns(1);
	dump();
	EXPECT_LINE("\"waits\" .*: mutex 0x[0-9a-f]+ held by #1 \"main\", for ");
	eddy_mutex_unlock(&mutex);
	return eddy_scope_end(&scope);
}

static int receive_item(void *arg)
{
	int item;

	return eddy_chan_recv(arg, &item);
}

TASK_TEST(dump, says_how_full_a_channel_is)
{
	struct eddy_chan chan;
	struct eddy_scope scope;
	int r;

	EXPECT_EQ(eddy_chan_init(&chan, sizeof(int), 8), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waits", receive_item, &chan);
	expect_turns(1);
	dump();
	EXPECT_LINE("\"waits\" .*: chan recv 0x[0-9a-f]+ \\(0 of 8 items\\), for ");
	eddy_chan_close(&chan);
	eddy_scope_join(&scope);
	r = eddy_scope_end(&scope);
	eddy_chan_deinit(&chan);
	return r == -EPIPE ? 0 : r;
}

static int end(int fd, void *arg)
{
	(void)fd;
	(void)arg;
	return 0;
}

static int serve(void *arg)
{
	return eddy_serve(arg, &(struct eddy_serve_options){ 0 }, end, NULL);
}

/* It is its task's. */
TASK_TEST(dump, lists_an_accept_once)
{
	struct eddy_listeners listeners;
	struct eddy_scope scope;

	EXPECT_EQ(eddy_listen("127.0.0.1:0", NULL, &listeners), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "serves", serve, &listeners);
	expect_turns(2);
	dump();
	EXPECT_EQ(captured_lines(": accept on "), 1);
	EXPECT_EQ(captured_lines("ops without a task:"), 0);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	eddy_listeners_close(&listeners);
	return 0;
}

TASK_TEST(dump, shows_a_part_of_what_is_wide)
{
	struct eddy_scope scope;

	eddy_event_init(&go_on);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 300; i++)
		eddy_scope_spawn(&scope, "one of many", wait_for_event, NULL);
	expect_turns(2);
	dump();
	EXPECT_EQ(captured_lines("one of many"),
		  256 + (strstr(captured, "deepest stack") &&
			 strstr(strstr(captured, "deepest stack"), "one of many")));
	EXPECT_LINE("^      └─ and 44 more$");
	EXPECT_LINE("301 tasks");
	eddy_event_set(&go_on);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

static int dig(int left)
{
	struct eddy_scope scope;
	int r = 0;

	eddy_scope_begin(&scope, NULL);
	if (left)
		r = dig(left - 1);
	else
		dump();
	eddy_scope_end(&scope);
	return r;
}

TASK_TEST(dump, shows_a_part_of_what_is_deep)
{
	dig(100);
	EXPECT_LINE("\\(deeper than is shown here\\)");
	EXPECT(captured_lines("─ scope$") < 50);
	dig(10);
	EXPECT_EQ(captured_lines("deeper"), 0);
	EXPECT_EQ(captured_lines("─ scope$"), 11);
	return 0;
}

/* --- descriptors */

TASK_TEST(dump, says_what_a_descriptor_is)
{
	struct sockaddr_in addr;
	struct eddy_scope scope;
	int listener = tcp_listen(&addr, 1), client = tcp_connect(&addr);
	int server = accept4(listener, NULL, NULL, SOCK_NONBLOCK), pipes[2];

	EXPECT_EQ(pipe2(pipes, O_NONBLOCK), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "tcp", receive, &server);
	expect_turns(1);
	dump();
	EXPECT_LINE(
		"recv on [0-9]+ \\(tcp 127\\.0\\.0\\.1:[0-9]+ with 127\\.0\\.0\\.1:[0-9]+\\), for");
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	close(client);
	close(server);
	close(listener);
	close(pipes[0]);
	close(pipes[1]);
	return 0;
}

struct lone {
	struct eddy_op op;
	bool ended;
};

static void lone_done(struct eddy_op *op, __attribute__((unused)) int result, unsigned flags)
{
	eddy_of(op, struct lone, op)->ended = !(flags & IORING_CQE_F_MORE);
}

TASK_TEST(dump, lists_ops_that_have_no_task)
{
	struct lone lone[20] = { 0 };
	int pipes[2];

	EXPECT_EQ(pipe2(pipes, O_NONBLOCK), 0);
	for (int i = 0; i < 20; i++) {
		struct io_uring_sqe *sqe = eddy_op_begin(&lone[i].op, lone_done);

		io_uring_prep_poll_add(sqe, pipes[0], POLLIN);
		eddy_op_start(&lone[i].op, sqe);
	}
	expect_turns(1);
	dump();
	EXPECT_LINE("; 20 ops, 20 of them without a task; 0 timers$");
	EXPECT_EQ(captured_lines("^   poll on [0-9]+ \\(pipe:\\[[0-9]+\\]\\), for "), 16);
	EXPECT_LINE("^   and 4 more$");
	for (int i = 0; i < 20; i++)
		eddy_op_cancel(&lone[i].op);
	for (int i = 0; i < 20; i++)
		while (!lone[i].ended)
			expect_turns(1);
	dump();
	EXPECT_LINE("; 0 ops, 0 of them without a task");
	close(pipes[0]);
	close(pipes[1]);
	return 0;
}

TASK_TEST(dump, says_that_it_could_not_be_written)
{
	int pipes[2];

	EXPECT_EQ(eddy_dump(-1), -EBADF);
	EXPECT_EQ(eddy_dump_all(-1), -EBADF);
	EXPECT_EQ(pipe2(pipes, O_CLOEXEC), 0);
	close(pipes[0]);
	EXPECT_EQ(eddy_dump(pipes[1]), -EPIPE);
	close(pipes[1]);
	return 0;
}

/* --- all loops */

struct other {
	pthread_t thread;
	const char *name;
	eddy_task_fn *fn;
	struct eddy_loop *_Atomic loop;
	struct eddy_event end;
	struct eddy_message message;
	atomic_bool is_busy, stop;
};

static void end_other(struct eddy_message *message)
{
	eddy_event_set(&eddy_of(message, struct other, message)->end);
}

static int idle_main(void *arg)
{
	struct other *other = arg;

	other->loop = eddy_loop_self();
	return eddy_event_wait(&other->end);
}

static int busy_main(void *arg)
{
	struct other *other = arg;

	other->loop = eddy_loop_self();
	other->is_busy = true;
	while (!other->stop)
		usleep(100);
	return eddy_event_wait(&other->end);
}

static void *other_thread(void *arg)
{
	struct other *other = arg;

	eddy_event_init(&other->end);
	other->message.deliver = end_other;
	eddy_run(&(struct eddy_loop_options){ .name = other->name }, other->fn, other);
	return NULL;
}

static void other_start(struct other *other)
{
	EXPECT_EQ(pthread_create(&other->thread, NULL, other_thread, other), 0);
	while (!other->loop)
		usleep(100);
}

static void other_end(struct other *other)
{
	eddy_loop_post(other->loop, &other->message);
	/* The wake-up leaves now: this thread is about to block. */
	eddyi_loop_enter(eddyi_loop());
	pthread_join(other->thread, NULL);
}

/* A busy machine may keep a thread from its processor for longer than a dump waits. `held`: loops that can't answer. */
static void dump_until_answered(int held)
{
	for (int tries = 0; tries < 50; tries++) {
		dump_all();
		if (captured_lines("does not answer") == held)
			return;
	}
}

TASK_TEST(dump, asks_the_other_loops)
{
	struct other others[2] = { { .name = "one", .fn = idle_main },
				   { .name = "two", .fn = idle_main } };

	for (int i = 0; i < 2; i++)
		other_start(&others[i]);
	for (int i = 0; i < 3; i++) {
		dump_until_answered(0);
		EXPECT_EQ(captured_lines("^eddy: loop"), 3);
		EXPECT_LINE("^└─ #1 \"main\" .*: runs$");
		EXPECT_LINE("^eddy: loop [0-9]+ \"one\" .*: 1 tasks");
		EXPECT_LINE("^└─ #1 \"one\" .*: (event 0x|ready)");
		EXPECT_LINE("^└─ #1 \"two\" .*: (event 0x|ready)");
	}
	for (int i = 0; i < 2; i++)
		other_end(&others[i]);
	dump_all();
	EXPECT_EQ(captured_lines("^eddy: loop"), 1);
	return 0;
}

/* An allocation of its thread would fail. Over epoll its wait for messages is one. */
static int frugal_main(void *arg)
{
	struct other *other = arg;
	bool has_ring = eddyi_loop()->executor->has_ring;

	failing_at = has_ring;
	other->loop = eddy_loop_self();
	EXPECT_EQ(eddy_event_wait(&other->end), 0);
	EXPECT_EQ(failing_at, has_ring);
	failing_at = 0;
	return 0;
}

TASK_TEST(dump, asks_the_other_loops_without_allocating)
{
	struct other other = { .name = "other", .fn = frugal_main };

	other_start(&other);
	failing_at = 1;
	dump_until_answered(0);
	EXPECT_EQ(failing_at, 1);
	failing_at = 0;
	EXPECT_LINE("^└─ #1 \"other\" .*: (event 0x|ready)");
	other_end(&other);
	return 0;
}

TASK_TEST(dump, names_the_task_that_holds_a_loop)
{
	struct other busy = { .name = "busy", .fn = busy_main },
		     idle = { .name = "idle", .fn = idle_main };

	other_start(&busy);
	other_start(&idle);
	while (!busy.is_busy)
		usleep(100);
	for (int i = 0; i < 2; i++) {
		dump_until_answered(1);
		EXPECT_LINE(
			"^eddy: loop [0-9]+ \"busy\" \\(thread [0-9]+\\) does not answer: "
			"#1 \"busy\" \\(eddy_run\\(\\)\\) holds it, its turn began [0-9]+ ms ago$");
		EXPECT_LINE("^└─ #1 \"idle\" .*: event 0x");
	}
	busy.stop = true;
	/* It answers again, and did not answer late. */
	for (int i = 0; i < 2; i++) {
		dump_until_answered(0);
		EXPECT_EQ(captured_lines("^eddy: loop [0-9]+ \"busy\" .*: 1 tasks"), 1);
	}
	other_end(&busy);
	other_end(&idle);
	return 0;
}

static int dump_outside(void *arg)
{
	return eddy_dump_all(*(int *)arg);
}

TASK_TEST(dump, may_be_asked_for_by_any_thread)
{
	int fd = capture_open();

	EXPECT_EQ(eddy_offload(dump_outside, &fd), 0);
	capture_close(fd);
	EXPECT_LINE(
		"^eddy: loop [0-9]+ \"main\" .*: 1 tasks, 0 pooled; 0 ops, .* timers; 1 offloaded "
		"\\(pool: 1 threads, 1 jobs run, 0 of them short; 0 wait, 0 of them short\\)$");
	EXPECT_LINE("^└─ #1 \"main\" .*: offload, for ");
	return 0;
}
