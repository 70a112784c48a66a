/* Tests of eddy/log_writer.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/event.h>
#include <eddy/log_writer.h>
#include <eddy/loop.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../folder.h"
#include "../on_asan.h"
#include "../on_tsan.h"
#include "../on_valgrind.h"

static char path[64], other[64];

static void name_files(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(other, sizeof(other), "%s/log.1", folder);
}

/* All of a file, NUL-terminated, in static memory. */
static const char *text_of(const char *name)
{
	static char text[1 << 20];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[len < 0 ? 0 : len] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

static void subscribe(enum eddy_log_format format)
{
	struct eddy_log_writer_options options = { .path = path, .format = format };

	cr_assert(eq(int, eddy_log_writer_subscribe(&options), 0));
}

TestSuite(log_writer, .init = name_files, .fini = remove_folder);

Test(log_writer, writes_what_was_emitted_before_it_stops)
{
	subscribe(EDDY_LOG_FORMAT_TEXT);
	for (int i = 0; i < 1000; i++)
		eddy_info("test", "record %d.", i);
	eddy_log_writer_unsubscribe();
	for (int i = 0; i < 1000; i++) {
		char want[32];

		snprintf(want, sizeof(want), "INFO test: record %d.\n", i);
		cr_assert(strstr(text_of(path), want) != NULL, "%s", want);
	}
	eddy_info("test", "nobody");
	eddy_log_writer_unsubscribe();
	cr_assert(strstr(text_of(path), "nobody") == NULL);
}

Test(log_writer, flush_waits_for_what_was_emitted)
{
	subscribe(EDDY_LOG_FORMAT_JSON);
	eddy_info("test", "now");
	cr_assert(eq(int, eddy_log_writer_flush(10 * EDDY_SECOND), 0));
	cr_assert(strstr(text_of(path), "\"message\":\"now\"") != NULL);
	eddy_log_writer_unsubscribe();
	cr_assert(eq(int, eddy_log_writer_flush(0), 0));
}

Test(log_writer, format_is_that_of_the_environment)
{
	setenv("EDDY_LOG_FORMAT", "json", 1);
	subscribe(EDDY_LOG_FORMAT_ENV);
	eddy_info("test", "one");
	eddy_log_writer_unsubscribe();
	cr_assert(text_of(path)[0] == '{');
	unlink(path);
	setenv("EDDY_LOG_FORMAT", "what", 1);
	subscribe(EDDY_LOG_FORMAT_ENV);
	eddy_info("test", "one");
	eddy_log_writer_unsubscribe();
	cr_assert(text_of(path)[0] == '2');
}

Test(log_writer, there_is_one)
{
	struct eddy_log_writer_options missing = { .path = "/nowhere/at/all" };

	cr_assert(eq(int, eddy_log_writer_subscribe(&missing), -ENOENT));
	subscribe(EDDY_LOG_FORMAT_TEXT);
	cr_assert(eq(int, eddy_log_writer_subscribe(NULL), -EBUSY));
	cr_assert(eq(int, eddy_log_text_subscribe(), -EBUSY));
	eddy_log_writer_unsubscribe();
	cr_assert(eq(int, eddy_log_text_subscribe(), 0));
	cr_assert(eq(int, eddy_log_writer_subscribe(NULL), -EBUSY));
	eddy_log_unsubscribe();
}

static int evaluated(void)
{
	static int times;

	return ++times;
}

Test(log_writer, of_no_format_takes_nothing_and_costs_nothing)
{
	const struct eddy_log_writer_options none = { .path = path,
						      .format = EDDY_LOG_FORMAT_NONE };

	setenv("EDDY_LOG", "trace", 1);
	cr_assert(eq(int, eddy_log_writer_subscribe(&none), 0));
	cr_assert(eq(int, eddy_log_text_subscribe(), -EBUSY));
	cr_assert(eq(int, eddy_log_writer_subscribe(NULL), -EBUSY));
	eddy_error("test", "nobody reads %d", evaluated());
	cr_assert(eq(int, evaluated(), 1));
	cr_assert(eq(int, eddy_log_writer_flush(0), 0));
	eddy_log_writer_unsubscribe();
	cr_assert(access(path, F_OK) < 0);
	subscribe(EDDY_LOG_FORMAT_TEXT);
	eddy_log_writer_unsubscribe();
}

Test(log_writer, a_file_that_was_renamed_is_left)
{
	subscribe(EDDY_LOG_FORMAT_TEXT);
	eddy_info("test", "first");
	eddy_log_writer_flush(10 * EDDY_SECOND);
	cr_assert(rename(path, other) == 0);
	eddy_log_writer_reopen();
	eddy_info("test", "second");
	eddy_log_writer_unsubscribe();
	cr_assert(strstr(text_of(path), "second") && !strstr(text_of(path), "first"));
	cr_assert(strstr(text_of(other), "first") && !strstr(text_of(other), "second"));
}

/* ---- a process that fails ---- */

static int break_contract(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		eddy_info("test", "record %d.", i);
	eddy_warn("test", "the last");
	eddy_scope_end(&(struct eddy_scope){ .host = (void *)arg });
	return 0;
}

static int fault(void *arg)
{
	for (int i = 0; i < 1000; i++)
		eddy_info("test", "record %d.", i);
	eddy_warn("test", "the last");
	*(volatile int *)arg = 1;
	return 0;
}

/* Return: the signal that ended a child which runs `fn(arg)`. */
static int die_of(eddy_task_fn *fn, void *arg)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		signal(SIGABRT, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		alarm(20);
		dup2(fd, STDERR_FILENO);
		subscribe(EDDY_LOG_FORMAT_TEXT);
		_exit(eddy_run(NULL, fn, arg));
	}
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* The process waits for 200 ms at most, in which a busy machine may not run the writer. */
static void expect_all_if_soon(uint64_t began_ns)
{
	if (eddy_now() - began_ns > 200 * EDDY_MS)
		return;
	for (int i = 0; i < 1000; i++) {
		char want[32];

		snprintf(want, sizeof(want), "INFO test: record %d.\n", i);
		cr_assert(strstr(text_of(path), want) != NULL, "%s", want);
	}
	cr_assert(strstr(text_of(path), "WARN test: the last\n") != NULL);
}

Test(log_writer, a_broken_contract_loses_nothing)
{
	need_threads_in_a_child();
	for (int i = 0; i < 10; i++) {
		uint64_t began = eddy_now();

		cr_assert(eq(int, die_of(break_contract, &(int){ 0 }), SIGABRT));
		expect_all_if_soon(began);
		unlink(path);
	}
}

Test(log_writer, a_fault_loses_nothing)
{
	need_threads_in_a_child();
	if (RUNNING_ON_ASAN || RUNNING_ON_VALGRIND)
		cr_skip_test("it handles faults itself");
	for (int i = 0; i < 10; i++) {
		uint64_t began = eddy_now();

		cr_assert(eq(int, die_of(fault, (void *)(uintptr_t)16), SIGSEGV));
		expect_all_if_soon(began);
		unlink(path);
	}
}

/* Nobody reads: the process ends all the same. */
Test(log_writer, a_process_that_fails_does_not_wait_for_a_reader)
{
	uint64_t began = eddy_now();
	int reader;

	need_threads_in_a_child();
	cr_assert(mkfifo(path, 0600) == 0);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	fcntl(reader, F_SETPIPE_SZ, 4096);
	cr_expect(eq(int, die_of(break_contract, &(int){ 0 }), SIGABRT));
	cr_expect(lt(u64, eddy_now() - began, 10 * EDDY_SECOND));
	close(reader);
}

/* A reader who does not read holds up nobody: not who emits, and not the end. */
Test(log_writer, who_does_not_read_holds_up_nobody)
{
	struct eddy_log_writer_options options = { .path = path,
						   .format = EDDY_LOG_FORMAT_TEXT,
						   .buffer = 1 };
	uint64_t before = eddy_log_writer_dropped();
	int reader;

	cr_assert(mkfifo(path, 0600) == 0);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cr_assert(eq(int, eddy_log_writer_subscribe(&options), 0));
	for (int i = 0; i < 10000; i++)
		eddy_info("test", "a record of some length that nobody ever reads: %d", i);
	cr_assert(eddy_log_writer_dropped() > before + 1000);
	cr_assert(eq(int, eddy_log_writer_flush(EDDY_MS), -ETIMEDOUT));
	eddy_log_writer_unsubscribe();
	/* Whoever comes next has a thread of his own. */
	cr_assert(eq(int, eddy_log_writer_subscribe(NULL), 0));
	eddy_log_writer_unsubscribe();
	close(reader);
}

/* What was lost is said where it would have stood. */
Test(log_writer, says_what_was_lost)
{
	struct eddy_log_writer_options options = { .path = path,
						   .format = EDDY_LOG_FORMAT_TEXT,
						   .buffer = 1 };
	char text[65536], *all = calloc(1, 1 << 20);
	ssize_t len;
	size_t at = 0;
	int reader;

	cr_assert(mkfifo(path, 0600) == 0);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cr_assert(eq(int, eddy_log_writer_subscribe(&options), 0));
	for (int i = 0; i < 10000; i++)
		eddy_info("test", "a record of some length: %d", i);
	for (int i = 0; i < 20000 && !strstr(all, "records were dropped"); i++) {
		len = read(reader, text, sizeof(text));
		if (len > 0 && at + (size_t)len < (1 << 20)) {
			memcpy(all + at, text, (size_t)len);
			at += (size_t)len;
		}
		usleep(1000);
	}
	cr_assert(strstr(all, "records were dropped") != NULL);
	close(reader);
	eddy_log_writer_unsubscribe();
	free(all);
}

Test(log_writer, a_full_disk_is_counted_and_survived)
{
	struct eddy_log_writer_options options = { .path = "/dev/full",
						   .format = EDDY_LOG_FORMAT_TEXT };
	uint64_t before = eddy_log_writer_dropped();

	cr_assert(eq(int, eddy_log_writer_subscribe(&options), 0));
	for (int i = 0; i < 10; i++)
		eddy_info("test", "lost");
	eddy_log_writer_unsubscribe();
	cr_assert(eq(u64, eddy_log_writer_dropped() - before, 10));
}

static void limit_files(rlim_t most)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = most;
	cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* A disk that fills in the middle of a line, and is emptied again: what comes then stands on lines of its own. */
Test(log_writer, a_disk_that_is_full_for_a_while)
{
	uint64_t before = eddy_log_writer_dropped(), kept = 0;
	const char *text;

	subscribe(EDDY_LOG_FORMAT_TEXT);
	eddy_info("test", "record %d", 1000);
	cr_assert(eq(int, eddy_log_writer_flush(10 * EDDY_SECOND), 0));
	limit_files(1000);
	for (int i = 0; i < 100; i++)
		eddy_info("test", "record %d", 1000 + i);
	cr_assert(eq(int, eddy_log_writer_flush(10 * EDDY_SECOND), 0));
	limit_files(RLIM_INFINITY);
	eddy_info("test", "again");
	eddy_log_writer_unsubscribe();
	text = text_of(path);
	for (const char *at = text; (at = strstr(at, "INFO test: record 1")); at++)
		kept += strchr(at, '\n') - at == 22;
	cr_expect(kept > 10 && kept < 30, "%d", (int)kept);
	cr_expect(eq(u64, eddy_log_writer_dropped() - before, 101 - kept));
	text = strstr(text, "again\n");
	cr_assert(text != NULL);
	/* In front of it are its time, and the end of the line that was cut. */
	cr_expect(memcmp(text - 11, "INFO test: ", 11) == 0);
	cr_expect(text[-41] == '\n');
}

/* How often this process has written. */
static unsigned long long count_writes(void)
{
	FILE *file = fopen("/proc/self/io", "re");
	unsigned long long count = 0;
	char line[80];

	if (!file)
		cr_skip_test("needs /proc/self/io");
	while (fgets(line, sizeof(line), file))
		sscanf(line, "syscw: %llu", &count);
	fclose(file);
	return count;
}

/* The thread is not woken for each. */
Test(log_writer, lines_that_keep_coming_are_written_together)
{
	unsigned long long before = count_writes();

	subscribe(EDDY_LOG_FORMAT_TEXT);
	for (int i = 0; i < 10000; i++)
		eddy_info("test", "record %d", i);
	eddy_log_writer_unsubscribe();
	cr_expect(strstr(text_of(path), "record 9999\n") != NULL);
	cr_expect(count_writes() - before < 10000 / 5, "%llu", count_writes() - before);
}

/* Return: how often was written for ten warnings, less what waiting for 5 ms at a time would have made of them. */
static long long warn_ten_times(void)
{
	unsigned long long before = count_writes();
	uint64_t began = eddy_now();

	for (int i = 0; i < 10; i++) {
		eddy_warn("test", "record %d", i);
		usleep(1000);
	}
	return (long long)(count_writes() - before - (eddy_now() - began) / (5 * EDDY_MS));
}

/* The program may be about to end of what they tell. */
Test(log_writer, warnings_do_not_wait_for_others)
{
	uint64_t until = eddy_now() + 20 * EDDY_SECOND;
	long long more;

	subscribe(EDDY_LOG_FORMAT_TEXT);
	/* Again where the thread had no time. */
	do
		more = warn_ten_times();
	while (more < 4 && eddy_now() < until);
	eddy_log_writer_unsubscribe();
	cr_expect(more >= 4, "%lld", more);
}

static void *emit(void *arg)
{
	for (int i = 0; i < 500; i++)
		eddy_info("test", "%s %d of many", (const char *)arg, i);
	return NULL;
}

/* Lines of several threads stay whole, those of each in their order. */
Test(log_writer, many_threads_emit)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	pthread_t threads[4];
	int next[4] = { 0 };
	char *text, *line, *rest;

	subscribe(EDDY_LOG_FORMAT_TEXT);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, emit, (void *)names[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	eddy_log_writer_unsubscribe();
	text = strdup(text_of(path));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char name;
		int number;

		cr_assert(sscanf(strstr(line, "test: "), "test: %c %d of many", &name, &number) ==
			  2);
		cr_assert(eq(int, number, next[name - 'a']++));
	}
	for (int i = 0; i < 4; i++)
		cr_assert(eq(int, next[i], 500));
	free(text);
}

/* ---- a thread that wakes nobody ---- */

static int wait_for_nothing(void *arg)
{
	struct eddy_event event;

	(void)arg;
	eddy_event_init(&event);
	return eddy_event_wait(&event);
}

/* ThreadSanitizer's, which has a thread of its own that nobody knows. */
void __tsan_init(void) __attribute__((weak));

/* The runtime knows it for one of eddy's. */
Test(log_writer, leaves_deadlocks_to_be_found)
{
	int status = 0;
	pid_t pid;

	if (__tsan_init)
		cr_skip_test("ThreadSanitizer has a thread of its own");
	pid = fork();
	if (pid == 0) {
		for (int signo = 1; signo < NSIG; signo++)
			signal(signo, SIG_DFL);
		alarm(20);
		subscribe(EDDY_LOG_FORMAT_TEXT);
		eddy_run(NULL, wait_for_nothing, NULL);
		_exit(1);
	}
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	cr_expect(eq(int, WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGABRT), "%d", status);
}
