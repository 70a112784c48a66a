#include "expect.h"

#include <dirent.h>
#include <eddy/event.h>
#include <eddy/internal/debug.h>
#include <eddy/log.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOLD_MAX 32

/* What came, on the thread that watches. */
static struct told {
	char message[300], backtrace[2000], task[64], request[64];
	uint64_t held_ms;
} told[TOLD_MAX];
static atomic_int told_count;

static void take_note(const struct eddy_record *record, __attribute__((unused)) void *arg)
{
	struct told *now = &told[told_count];

	if (strcmp(record->target, "eddy::stall") != 0 || told_count == TOLD_MAX)
		return;
	EXPECT_EQ(record->level, EDDY_LOG_WARN);
	snprintf(now->message, sizeof(now->message), "%.*s", EDDY_FMT(record->message));
	for (size_t i = 0; i < record->field_count; i++) {
		const struct eddy_field *field = &record->fields[i];

		if (strcmp(field->name, "held_ms") == 0)
			now->held_ms = field->value.u64;
		else if (strcmp(field->name, "task") == 0)
			snprintf(now->task, sizeof(now->task), "%.*s", EDDY_FMT(field->value.str));
		else if (strcmp(field->name, "request") == 0)
			snprintf(now->request, sizeof(now->request), "%.*s",
				 EDDY_FMT(field->value.str));
		else if (strcmp(field->name, "backtrace") == 0)
			snprintf(now->backtrace, sizeof(now->backtrace), "%.*s",
				 EDDY_FMT(field->value.str));
	}
	told_count++;
}

#define STALL_TEST(name, limit)                                                                    \
	static int stall_##name(void *arg);                                                        \
	Test(stall, name)                                                                          \
	{                                                                                          \
		struct eddy_loop_options options = { .stall_ns = (limit) };                        \
                                                                                                   \
		cr_assert_eq(eddy_log_subscribe(take_note, NULL), 0);                              \
		expect_run(&options, stall_##name, NULL);                                          \
		eddy_log_unsubscribe();                                                            \
	}                                                                                          \
	static int stall_##name(__attribute__((unused)) void *arg)

/* The first record with both of these, from the one of number `first` on; NULL for none. Not simply the first: a
 * machine that gives the loop no time makes more of them. */
static const struct told *told_since(int first, const char *who, const char *what)
{
	for (int i = first; i < told_count; i++)
		if (strstr(told[i].message, who) && strstr(told[i].message, what))
			return &told[i];
	return NULL;
}

static const struct told *told_of(const char *who, const char *what)
{
	return told_since(0, who, what);
}

/* Hold the loop until it has been told that this one does, by a record from `first` on, for ten seconds at
 * most. */
static void spin_until_told_since(int first, const char *who)
{
	uint64_t until = eddy_now() + 10 * EDDY_SECOND;

	while (!told_since(first, who, " holds ") && eddy_now() < until)
		;
}

static void spin_until_told(const char *who)
{
	spin_until_told_since(0, who);
}

static const struct told *await_end(const char *who)
{
	for (int i = 0; i < 1000 && !told_of(who, " held "); i++)
		eddy_sleep(EDDY_MS);
	return told_of(who, " held ");
}

static int hold(__attribute__((unused)) void *arg)
{
	spin_until_told("\"holder\"");
	return 0;
}

/* Hold the loop until a record has a backtrace: a busy machine may give the thread no time to make one. */
STALL_TEST(has_a_backtrace, 5 * EDDY_MS)
{
	const struct told *holds = NULL;

	for (int i = 0; i < 10 && !(holds && holds->backtrace[0]); i++) {
		int first = told_count;

		eddy_sleep(EDDY_MS);
		spin_until_told_since(first, "task \"main\"");
		holds = told_since(first, "task \"main\"", " holds ");
	}
	EXPECT(holds);
	if (!holds)
		return 0;
	/* The test's own functions have no names outside. */
	EXPECT(strstr(holds->backtrace, program_invocation_short_name));
	EXPECT(strstr(holds->backtrace, "+0x"));
	EXPECT(strstr(holds->backtrace, " < "));
	return 0;
}

STALL_TEST(is_told_once_and_when_it_ends, 10 * EDDY_MS)
{
	static const char holder[] = "task \"holder\" (#2, spawned at ";
	const struct told *holds, *held;
	struct eddy_scope scope;
	int count = 0;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "holder", hold, NULL);
	eddy_scope_join(&scope);
	held = await_end(holder);
	holds = told_of(holder, ") holds loop \"main\" for ");
	EXPECT(holds && held);
	if (!holds || !held)
		return eddy_scope_end(&scope);
	EXPECT(strstr(holds->message, "stall.c:"));
	EXPECT(strcmp(holds->task, "holder") == 0);
	EXPECT(holds->held_ms >= 10);
	EXPECT(strstr(held->message, ") held loop \"main\" for "));
	EXPECT(held->held_ms >= holds->held_ms);
	EXPECT_EQ(held->backtrace[0], 0);
	for (int i = 0; i < told_count; i++)
		count += strcmp(told[i].task, "holder") == 0;
	EXPECT_EQ(count, 2);
	EXPECT(eddy_loop_stats(NULL).stalls >= 1);
	return eddy_scope_end(&scope);
}

/* A task that has said what it works on is named by that. */
STALL_TEST(by_a_task_that_works_on_a_request, 10 * EDDY_MS)
{
	const struct told *holds;

	eddyi_task_set_label("GET /users/{id}");
	spin_until_told("GET /users/{id}");
	eddyi_task_set_label(NULL);
	holds = told_of("task \"main\" (#1, GET /users/{id}) holds loop \"main\" for ",
			"; move blocking calls and long computations to eddy_offload()");
	EXPECT(holds && strcmp(holds->request, "GET /users/{id}") == 0);
	EXPECT(await_end("task \"main\" (#1, GET /users/{id})"));
	return 0;
}

static int hold_under_debug(__attribute__((unused)) void *arg)
{
	spin_until_told("task \"main\"");
	return 0;
}

/* Without .stall_ns. */
Test(stall, is_told_under_eddy_debug)
{
	const struct told *holds;

	setenv("EDDY_DEBUG", "1", 1);
	cr_assert_eq(eddy_log_subscribe(take_note, NULL), 0);
	expect_run(NULL, hold_under_debug, NULL);
	eddy_log_unsubscribe();
	holds = told_of("task \"main\"", " holds ");
	cr_assert(holds);
	cr_expect(holds->held_ms >= 20);
}

static void hold_in_completion(struct eddy_op *op, int result, unsigned flags)
{
	(void)op;
	(void)result;
	(void)flags;
	spin_until_told("a completion function");
}

STALL_TEST(by_a_completion_function, 10 * EDDY_MS)
{
	struct eddy_op op;
	struct io_uring_sqe *sqe = eddy_op_begin(&op, hold_in_completion);

	io_uring_prep_nop(sqe);
	eddy_op_start(&op, sqe);
	EXPECT(await_end("a completion function"));
	EXPECT(told_of("a completion function", " holds loop \"main\""));
	return 0;
}

static void hold_on_loop_stack(__attribute__((unused)) void *arg)
{
	spin_until_told("task \"main\" (#1");
}

STALL_TEST(by_a_task_on_its_loops_stack, 10 * EDDY_MS)
{
	eddy_on_loop_stack(hold_on_loop_stack, NULL);
	EXPECT(await_end("task \"main\" (#1"));
	EXPECT(told_of("task \"main\" (#1", " holds "));
	return 0;
}

/* These would come back with EINTR from any handler, SA_RESTART or not. */
STALL_TEST(leaves_system_calls_alone, 5 * EDDY_MS)
{
	struct timespec wait = { .tv_nsec = 60 * EDDY_MS };
	const struct told *holds = NULL;

	/* Again where it was told before the call had begun. */
	for (int i = 0; i < 10 && !holds; i++) {
		eddy_sleep(EDDY_MS);
		EXPECT_EQ(nanosleep(&wait, NULL), 0);
		EXPECT_EQ(poll(NULL, 0, 60), 0);
		holds = told_of("task \"main\"", ", in a system call");
	}
	EXPECT(holds);
	/* Valgrind makes the calls in code of its own. */
	EXPECT(RUNNING_ON_VALGRIND || (holds && (strstr(holds->backtrace, "nanosleep+0x") ||
						 strstr(holds->backtrace, "libc.so"))));
	return 0;
}

struct writer {
	int fd;
	int first; /* record to look at */
};

static void *write_when_told(void *arg)
{
	const struct writer *writer = arg;

	spin_until_told_since(writer->first, "task \"main\"");
	return write(writer->fd, "x", 1) == 1 ? arg : NULL;
}

/* And these go on. */
STALL_TEST(interrupts_what_goes_on, 5 * EDDY_MS)
{
	const struct told *holds = NULL;
	struct writer writer;
	pthread_t thread;
	char byte;
	int fds[2];

	EXPECT_EQ(pipe(fds), 0);
	writer.fd = fds[1];
	/* Again where the machine gave this thread no time to answer. */
	for (int i = 0; i < 10 && !(holds && holds->backtrace[0]); i++) {
		eddy_sleep(EDDY_MS);
		writer.first = told_count;
		EXPECT_EQ(pthread_create(&thread, NULL, write_when_told, &writer), 0);
		EXPECT_EQ(read(fds[0], &byte, 1), 1);
		pthread_join(thread, NULL);
		holds = told_since(writer.first, "task \"main\"", " holds ");
	}
	/* ThreadSanitizer keeps a signal back until the call is over. */
	EXPECT(holds && (EDDYI_TSAN || strstr(holds->backtrace, " < ")));
	close(fds[0]);
	close(fds[1]);
	return 0;
}

STALL_TEST(is_none_while_a_loop_sleeps, 100 * EDDY_MS)
{
	eddy_sleep(250 * EDDY_MS);
	EXPECT_EQ(told_count, 0);
	EXPECT_EQ(eddy_loop_stats(NULL).stalls, 0);
	return 0;
}

static int count_watchers(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(dir))) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file))
			count += strcmp(name, "eddy-watch\n") == 0;
		fclose(file);
	}
	closedir(dir);
	return count;
}

static int hold_other(void *arg)
{
	spin_until_told("task \"other\"");
	EXPECT_EQ(count_watchers(), 1);
	return arg != NULL;
}

static void *run_other(__attribute__((unused)) void *arg)
{
	eddy_run(&(struct eddy_loop_options){ .stall_ns = 5 * EDDY_MS, .name = "other" },
		 hold_other, NULL);
	return NULL;
}

static int begin_and_end(void *arg)
{
	pthread_t thread;

	(void)arg;
	told_count = 0;
	EXPECT_EQ(pthread_create(&thread, NULL, run_other, NULL), 0);
	pthread_join(thread, NULL);
	return 0;
}

Test(stall, one_thread_watches_all_loops_and_ends_with_them)
{
	struct eddy_loop_options options = { .stall_ns = 3600 * EDDY_SECOND };

	cr_assert_eq(eddy_log_subscribe(take_note, NULL), 0);
	expect_run(&options, begin_and_end, NULL);
	expect_run(NULL, begin_and_end, NULL);
	eddy_log_unsubscribe();
	cr_expect_eq(count_watchers(), 0);
	cr_expect(told_of("task \"other\"", " holds loop \"other\""));
}

static atomic_int urgent;

static void take_urgent(__attribute__((unused)) int signo)
{
	urgent++;
}

static int hold_main(__attribute__((unused)) void *arg)
{
	spin_until_told("task \"main\"");
	raise(SIGURG);
	return 0;
}

Test(stall, leaves_the_programs_signal_alone)
{
	struct eddy_loop_options options = { .stall_ns = 5 * EDDY_MS };
	const struct told *holds;

	signal(SIGURG, take_urgent);
	cr_assert_eq(eddy_log_subscribe(take_note, NULL), 0);
	expect_run(&options, hold_main, NULL);
	eddy_log_unsubscribe();
	cr_expect_eq(urgent, 1);
	holds = told_of("task \"main\"", " holds ");
	cr_expect(holds);
}
