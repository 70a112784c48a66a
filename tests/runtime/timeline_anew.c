/* Where a timeline begins and ends in the middle of things. */
#include "../on_tsan.h"
#include "timeline_rig.h"

#include "base/panic.h"
#include "timeline/tape.h"

#include <eddy/event.h>
#include <eddy/loop.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void start(__attribute__((unused)) void *arg)
{
	rig_start();
}

static void *starts_anew(__attribute__((unused)) void *arg)
{
	eddy_trace_stop();
	start(NULL);
	return NULL;
}

static int sleeps(__attribute__((unused)) void *arg)
{
	return eddy_sleep(0);
}

/* The loop knows nothing of it until its turn ends. */
static void another_starts_anew(void)
{
	pthread_t thread;

	EXPECT_EQ(pthread_create(&thread, NULL, starts_anew, NULL), 0);
	pthread_join(thread, NULL);
}

TASK_TEST(timeline_anew, tracks_that_were_drawn_late_are_named_again)
{
	struct eddy_scope scope;

	start(NULL);
	another_starts_anew();
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "late", sleeps, NULL);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	eddy_scope_end(&scope);
	rig_stop();
	EXPECT_LINE("thread_name.*\"main\"");
	EXPECT_LINE("thread_name.*\"late\"");
	EXPECT(rig_events(rig_track("late"), "X", "\"cat\":\"run\"") > 0);
	return 0;
}

static int nothing(__attribute__((unused)) void *arg)
{
	return 0;
}

/* The job is of the old timeline, and ends in the new one. */
TASK_TEST(timeline_anew, a_job_comes_from_no_track_of_another_timeline)
{
	start(NULL);
	another_starts_anew();
	EXPECT_EQ(eddy_offload(nothing, NULL), 0);
	rig_stop();
	EXPECT_EQ(rig_events(rig_track("offload"), "X", "\"name\":\"job\""), 1);
	EXPECT_EQ(captured_lines("\"cat\":\"arrow\",\"name\":\"offload\""), 0);
	return 0;
}

static int runs_a_job(__attribute__((unused)) void *arg)
{
	return eddy_offload(nothing, NULL);
}

/* The file is full before the task's name, which is on another tape than the job. */
TASK_TEST(timeline_anew, a_job_comes_from_no_track_without_a_name)
{
	const struct eddy_trace_options options = { .path = rig_file(), .file_max = 64 * EDDY_KIB };
	struct eddy_scope scope;

	EXPECT_EQ(eddy_trace_start(&options), 0);
	for (int i = 0; i < 1000; i++)
		eddy_trace_span(eddy_str_from("one of many"), 1, 2, NULL);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "has a job", runs_a_job, NULL);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	eddy_scope_end(&scope);
	eddy_trace_stop();
	rig_read(rig_file());
	EXPECT(eddy_trace_dropped() > 0);
	EXPECT_EQ(captured_lines("\"name\":\"thread_name\".*\"has a job\""), 0);
	EXPECT_EQ(captured_lines("\"ph\":\"s\",.*\"name\":\"offload\""), 0);
	return 0;
}

static struct eddy_event event;

static int waits(__attribute__((unused)) void *arg)
{
	return eddy_event_wait(&event);
}

TASK_TEST(timeline_anew, who_was_woken_before_was_woken_by_nobody)
{
	struct eddy_scope scope;

	eddy_event_init(&event);
	start(NULL);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waiter", waits, NULL);
	expect_turns(1);
	eddy_event_set(&event);
	eddy_trace_stop();
	start(NULL);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	eddy_scope_end(&scope);
	rig_stop();
	EXPECT_EQ(rig_events(rig_track("waiter"), "X", "\"cat\":\"run\""), 1);
	EXPECT_EQ(rig_events(rig_track("waiter"), "f", ""), 0);
	return 0;
}

/* It is the second of its name that is seen to run, but was there as the first did. */
TASK_TEST(timeline_anew, who_has_waited_takes_no_track_of_who_ran_meanwhile)
{
	struct eddy_scope scope;

	eddy_event_init(&event);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "twin", waits, NULL);
	expect_turns(1);
	start(NULL);
	eddy_scope_spawn(&scope, "twin", nothing, NULL);
	expect_turns(1);
	eddy_event_set(&event);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	/* Now there are two to take over. */
	eddy_scope_spawn(&scope, "twin", sleeps, NULL);
	eddy_scope_spawn(&scope, "twin", sleeps, NULL);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	eddy_scope_end(&scope);
	rig_stop();
	EXPECT_EQ(captured_lines("\"name\":\"thread_name\".*\"twin\""), 2);
	return 0;
}

TASK_TEST(timeline_anew, begins_on_the_loops_stack_as_well)
{
	eddy_on_loop_stack(start, NULL);
	EXPECT_EQ(eddy_sleep(0), 0);
	rig_stop();
	EXPECT_EQ(rig_events(rig_track("main"), "X", "\"cat\":\"run\""), 2);
	return 0;
}

/* What the end of the file says of drops, added up. */
static uint64_t told(void)
{
	static const char key[] = "\"name\":\"dropped\",\"args\":{\"records\":";
	int from = open(rig_file(), O_RDONLY | O_CLOEXEC);
	off_t size = lseek(from, 0, SEEK_END), begin = size - (off_t)sizeof(captured) + 1;
	ssize_t len = pread(from, captured, sizeof(captured) - 1, begin > 0 ? begin : 0);
	uint64_t sum = 0;

	captured[len > 0 ? len : 0] = '\0';
	close(from);
	for (const char *at = captured; (at = strstr(at, key)); at += strlen(key))
		sum += strtoull(at + strlen(key), NULL, 10);
	return sum;
}

TASK_TEST(timeline_anew, what_a_full_tape_lost_is_told)
{
	const struct eddy_trace_options options = { .path = rig_file(), .buffer = 64 * EDDY_KIB };
	const struct eddyi_tape *tape;

	EXPECT_EQ(eddy_trace_start(&options), 0);
	/* The last guest that came. */
	tape = eddy_of(eddy_loop_self()->guests, struct eddyi_tape, guest);
	while (!tape->dropped)
		eddy_trace_span(eddy_str_from("one of many"), 1, 2, NULL);
	eddy_trace_stop();
	EXPECT(eddy_trace_dropped() > 0);
	EXPECT_EQ(told(), eddy_trace_dropped());
	EXPECT(rig_number("otherData", "\"dropped\":") == (double)eddy_trace_dropped());
	return 0;
}

static int dies(__attribute__((unused)) void *arg)
{
	eddy_trace_span(eddy_str_from("last words"), 1, 2, NULL);
	eddyi_assert(false, "as it is meant to");
	return 0;
}

Test(timeline_anew, a_panic_writes_what_there_is)
{
	const struct rlimit none = { 0, 0 };
	int status = 0;
	pid_t child;

	need_threads_in_a_child();
	rig_file();
	child = fork();
	if (child == 0) {
		alarm(20);
		setrlimit(RLIMIT_CORE, &none);
		close(STDERR_FILENO);
		open("/dev/null", O_WRONLY);
		start(NULL);
		_exit(eddy_run(NULL, dies, NULL));
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%d", status);
	rig_read(rig_file());
	EXPECT_LINE("\"ph\":\"b\",.*last words");
	EXPECT_EQ(rig_events(rig_track("main"), "X", "\"cat\":\"run\""), 1);
	expect_report();
}
