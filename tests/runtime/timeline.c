#include "timeline_rig.h"

#include "../comma.h"

#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/log.h>
#include <eddy/loops.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <pthread.h>
#include <sched.h>

static int ends[2];

static int reads(__attribute__((unused)) void *arg)
{
	char bytes[100];

	EXPECT_EQ(eddy_read(ends[0], bytes, sizeof(bytes), EDDY_OFFSET_NONE), 5);
	return 0;
}

static int writes(__attribute__((unused)) void *arg)
{
	EXPECT_EQ(eddy_write(ends[1], "bytes", 5, EDDY_OFFSET_NONE), 5);
	return 0;
}

TASK_TEST(timeline, shows_who_ran_and_waited_and_what_for)
{
	struct eddy_scope scope;
	int reader, ring;
	char text[200];

	EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
	rig_start();
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "reader", reads, NULL);
	eddy_scope_spawn(&scope, "writer", writes, NULL);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	eddy_scope_end(&scope);
	rig_stop();

	snprintf(text, sizeof(text), "\"pid\":1,.*process_name.*%s .%d.",
		 program_invocation_short_name, (int)getpid());
	EXPECT_LINE(text);
	EXPECT_LINE("\"pid\":[2-9],.*process_name.*loop [0-9]+ .\"main.\"");
	EXPECT_LINE("thread_name.*\"name\":\"main\",\"where\":\"eddy_run..\"");
	EXPECT_LINE("thread_name.*\"name\":\"reader\",\"where\":\".*runtime/timeline.c:[0-9]+\"");
	reader = rig_track("reader");
	ring = rig_track("ring");
	EXPECT_EQ(rig_events(reader, "X", "\"cat\":\"run\""), 2);
	snprintf(text, sizeof(text),
		 "\"cat\":\"wait\",\"name\":\"read\",\"args\":.\"task\":[0-9]+,\"fd\":%d", ends[0]);
	EXPECT_EQ(rig_events(reader, "X", text), 1);
	snprintf(
		text, sizeof(text),
		"\"cat\":\"op\",\"name\":\"read\",.*\"fd\":%d,\"result\":5,\"bytes\":5,\"len\":100,\"track\":%d",
		ends[0], reader);
	EXPECT_EQ(rig_events(ring, "b", text), 1);
	snprintf(text, sizeof(text), "\"cat\":\"completion\",\"name\":\"read\",.*\"fd\":%d",
		 ends[0]);
	EXPECT_EQ(rig_events(ring, "X", text), 1);
	EXPECT_EQ(rig_events(rig_track("main"), "X", "\"cat\":\"wait\",\"name\":\"scope join\""),
		  1);
	/* Who spawned it, and what woke it. */
	EXPECT_EQ(rig_events(reader, "f", "\"name\":\"spawn\""), 1);
	EXPECT_EQ(rig_events(reader, "f", "\"name\":\"wake\""), 1);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static struct eddy_event event;

static int waits(__attribute__((unused)) void *arg)
{
	return eddy_event_wait(&event);
}

static int wakes(__attribute__((unused)) void *arg)
{
	EXPECT_EQ(eddy_sleep(EDDY_MS), 0);
	eddy_event_set(&event);
	return 0;
}

TASK_TEST(timeline, an_arrow_leads_from_who_woke_to_who_was_woken)
{
	struct eddy_scope scope;
	char text[100];
	double id;

	eddy_event_init(&event);
	rig_start();
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waiter", waits, NULL);
	eddy_scope_spawn(&scope, "waker", wakes, NULL);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	rig_stop();
	snprintf(text, sizeof(text), "\"ph\":\"f\",\"pid\":[0-9]+,\"tid\":%d,.*\"wake\"",
		 rig_track("waiter"));
	id = rig_number(text, "\"id\":\"");
	EXPECT(id > 0);
	snprintf(text, sizeof(text), "\"ph\":\"s\",\"pid\":[0-9]+,\"tid\":%d,.*\"wake\"",
		 rig_track("waker"));
	EXPECT(rig_number(text, "\"id\":\"") == id);
	/* A timer wakes on behalf of the loop. */
	EXPECT(rig_events(rig_track("ring"), "X", "\"name\":\"timers\"") > 0);
	EXPECT_EQ(rig_events(rig_track("waker"), "f", "\"wake\""), 1);
	return 0;
}

static int yields(__attribute__((unused)) void *arg)
{
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(eddy_yield(), 0);
	return 0;
}

TASK_TEST(timeline, who_yields_is_woken_by_nobody)
{
	struct eddy_scope scope;

	rig_start();
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "one", yields, NULL);
	eddy_scope_spawn(&scope, "two", yields, NULL);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	rig_stop();
	EXPECT_EQ(rig_events(rig_track("one"), "X", "\"run\""), 4);
	EXPECT_EQ(rig_events(rig_track("one"), "X", "\"yield\""), 3);
	EXPECT_EQ(rig_events(rig_track("one"), "f", ""), 1);
	return 0;
}

TASK_TEST(timeline, a_track_is_taken_over_by_the_next_of_the_name)
{
	struct eddy_scope scope;

	EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
	rig_start();
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 10; i++) {
		eddy_scope_spawn(&scope, "one by one", writes, NULL);
		eddy_scope_join(&scope);
	}
	for (int i = 0; i < 3; i++)
		eddy_scope_spawn(&scope, "at once", writes, NULL);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	rig_stop();
	EXPECT_LINE("thread_name.*\"one by one\"");
	EXPECT_EQ(rig_events(rig_track("one by one"), "X", "\"cat\":\"run\""), 20);
	EXPECT_EQ(captured_lines("thread_name.*\"at once\""), 3);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int nothing(__attribute__((unused)) void *arg)
{
	return 0;
}

TASK_TEST(timeline, names_are_whole_json_whatever_they_are)
{
	struct eddy_scope scope;
	char *name = strdup("a \"b\\c\n\xff\xc3\xa4");

	rig_start();
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, name, nothing, NULL);
	eddy_scope_spawn(&scope, "", nothing, NULL);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	/* It was the caller's: the thread that writes has a copy. */
	memset(name, 'x', strlen(name));
	free(name);
	rig_stop();
	EXPECT(strstr(captured, "\"name\":\"a \\\"b\\\\c\\n\\ufffd\xc3\xa4\""));
	EXPECT_LINE("thread_name.*\"name\":\".no name.\"");
	return 0;
}

static size_t write_lazy(const void *data, char text[EDDY_FIELD_LAZY_MAX])
{
	return (size_t)snprintf(text, EDDY_FIELD_LAZY_MAX, "written %s", (const char *)data);
}

/* When the timeline in the file began, by the clock of eddy_now(). */
static uint64_t began_ns(void)
{
	return (uint64_t)rig_number("otherData", "\"began_ns\":");
}

/* The time of the event, as one reads it who cuts a double. */
static uint64_t ns_of(const char *pattern)
{
	return (uint64_t)(rig_number(pattern, "\"ts\":") * 1000.0);
}

TASK_TEST(timeline, spans_have_fields_of_every_type)
{
	char long_name[300], long_value[600];
	uint64_t now;

	memset(long_name, 'n', sizeof(long_name));
	memset(long_value, 'v', sizeof(long_value));
	rig_start();
	EXPECT(eddy_trace_is_on());
	now = eddy_now();
	eddy_trace_span(eddy_str_from("all"), now, now + 2500,
			EDDY_FIELDS(eddy_field_text("text", "a\"b"), eddy_field_i64("i64", -7),
				    eddy_field_u64("u64", UINT64_MAX), eddy_field_f64("f64", 0.5),
				    eddy_field_f64("inf", 1e308 * 10), eddy_field_bool("yes", true),
				    eddy_field_bool("no", false),
				    eddy_field_lazy("lazy", write_lazy, "late")));
	eddy_trace_span(eddy_str_from("bare"), 5, 4, NULL);
	eddy_trace_span(eddy_str(long_name, sizeof(long_name)), 1, 2,
			EDDY_FIELDS(eddy_field_bool("first", true),
				    eddy_field_str("cut", eddy_str(long_value, sizeof(long_value))),
				    eddy_field_bool("no room", true)));
	rig_stop();
	EXPECT(!eddy_trace_is_on());
	EXPECT_LINE(
		"\"ph\":\"b\".*\"ts\":[0-9.]+,\"cat\":\"span\",\"name\":\"all\",.*\"args\":."
		"\"text\":\"a..b\",\"i64\":-7,\"u64\":18446744073709551615,\"f64\":0.5,\"inf\":null,"
		"\"yes\":true,\"no\":false,\"lazy\":\"written late\"..,$");
	EXPECT_EQ(ns_of("\"ph\":\"b\".*\"all\""), now - began_ns());
	EXPECT_EQ(ns_of("\"ph\":\"e\".*\"all\""), now + 2500 - began_ns());
	/* Before the timeline. */
	EXPECT_LINE("\"ph\":\"b\".*\"ts\":0.0005,.*\"bare\",.*\"args\":\\{\\}");
	EXPECT_LINE("\"ph\":\"e\".*\"ts\":0.0005,.*\"bare\"");
	EXPECT_LINE("\"ph\":\"b\".*\"name\":\"n{96}\",.*\"first\":true,\"cut\":\"v{200,}\"..,$");
	return 0;
}

/* Just above a power of two a double has the fewest digits left for what is behind the point. */
TASK_TEST(timeline, times_are_whole_for_who_cuts_doubles)
{
	uint64_t first;
	char name[32];

	rig_start();
	first = eddy_now() + ((uint64_t)1 << 36) * 1000;
	for (unsigned i = 0; i < 50; i++) {
		uint64_t at = first + i * 7919;

		eddy_trace_span(eddy_str(name, (size_t)snprintf(name, sizeof(name), "of %u.", i)),
				at, at, NULL);
	}
	rig_stop();
	for (unsigned i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "\"b\".*\"of %u\\.\"", i);
		EXPECT_EQ(ns_of(name), first + i * 7919 - began_ns());
	}
	return 0;
}

static int half(__attribute__((unused)) void *arg)
{
	rig_start();
	eddy_trace_span(eddy_str_from("span"), 1, 2, EDDY_FIELDS(eddy_field_f64("half", 0.5)));
	rig_stop();
	EXPECT_LINE("\"args\":.\"half\":0\\.5..,$");
	return 0;
}

Test(timeline, numbers_have_a_point_in_every_locale)
{
	if (!switch_to_comma())
		cr_skip_test("needs localedef and what it makes locales of");
	expect_run(NULL, half, NULL);
}

static atomic_bool may_end;

static int job(__attribute__((unused)) void *arg)
{
	eddy_trace_span(eddy_str_from("inside a job"), 1, 2, NULL);
	while (!atomic_load(&may_end))
		sched_yield();
	return 0;
}

static int lets_end(__attribute__((unused)) void *arg)
{
	atomic_store(&may_end, true);
	return 0;
}

TASK_TEST(timeline, jobs_are_on_their_thread_and_come_from_their_task)
{
	struct eddy_scope scope;
	int thread;

	rig_start();
	eddy_scope_begin(&scope, NULL);
	/* It runs once this one waits. */
	eddy_scope_spawn(&scope, "other", lets_end, NULL);
	EXPECT_EQ(eddy_offload(job, NULL), 0);
	eddy_scope_end(&scope);
	rig_stop();
	thread = rig_track("offload");
	EXPECT_EQ(rig_events(thread, "X", "\"name\":\"job\""), 1);
	EXPECT_EQ(rig_events(thread, "f", "\"name\":\"offload\""), 1);
	EXPECT_EQ(rig_events(rig_track("main"), "s", "\"name\":\"offload\""), 1);
	EXPECT_LINE("\"ph\":\"b\",\"pid\":1,.*\"inside a job\"");
	EXPECT_EQ(rig_events(rig_track("main"), "X", "\"cat\":\"wait\",\"name\":\"offload\""), 1);
	EXPECT(rig_events(rig_track("ring"), "X", "\"name\":\"messages\"") > 0);
	return 0;
}

static int each(__attribute__((unused)) void *arg)
{
	struct eddy_scope scope;
	const char *name = eddy_loops_index() ? "on the second" : "on the first";

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, name, nothing, NULL);
	return eddy_scope_join(&scope) + eddy_scope_end(&scope);
}

/* Nobody stops it: a loop's end has its timeline written. */
Test(timeline, of_all_loops_is_one_file)
{
	struct eddy_loops_options options = { .count = 2 };

	rig_start();
	cr_assert_eq(eddy_loops_run_blocking(&options, each, NULL), 0);
	rig_read(rig_file());
	EXPECT_EQ(captured_lines("process_name.*loop [0-9]+ "), 2);
	EXPECT_EQ(captured_lines("thread_name.*\"name\":\"ring\""), 2);
	EXPECT_LINE("thread_name.*on the first");
	EXPECT_LINE("thread_name.*on the second");
	EXPECT(rig_number("thread_name.*on the first", "\"pid\":") !=
	       rig_number("thread_name.*on the second", "\"pid\":"));
	rig_stop();
	expect_report();
}

TASK_TEST(timeline, stops_and_starts_anew)
{
	struct eddy_scope scope;

	rig_start();
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "early", nothing, NULL);
	eddy_scope_join(&scope);
	rig_stop();
	EXPECT_LINE("thread_name.*early");
	eddy_scope_spawn(&scope, "between", nothing, NULL);
	eddy_scope_join(&scope);
	eddy_trace_stop();
	rig_start();
	eddy_scope_spawn(&scope, "late", nothing, NULL);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	rig_stop();
	EXPECT_LINE("thread_name.*late");
	EXPECT_LINE("thread_name.*main");
	EXPECT_EQ(captured_lines("early|between"), 0);
	return 0;
}

TASK_TEST(timeline, a_sample_leaves_out_what_is_between)
{
	const struct eddy_trace_options options = { .path = rig_file(), .sample = 1000000 };
	struct eddy_scope scope;
	bool is_early;

	EXPECT_EQ(eddy_trace_start(&options), 0);
	/* Not where the machine had no time for it. */
	is_early = eddy_trace_is_on();
	eddy_scope_begin(&scope, NULL);
	EXPECT_EQ(eddy_sleep(2 * EDDY_TRACE_SLICE_NS), 0);
	expect_turns(1);
	EXPECT(!eddy_trace_is_on());
	eddy_trace_span(eddy_str_from("a span"), 1, 2, NULL);
	eddy_scope_spawn(&scope, "late", nothing, NULL);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	rig_stop();
	EXPECT_EQ(captured_lines("thread_name.*main"), is_early);
	EXPECT_LINE("\"sample\":1000000,\"began_ns\":[0-9]+ *}}$");
	EXPECT_EQ(captured_lines("late|a span"), 0);
	return 0;
}

static atomic_bool over;

static void *starts_and_stops(__attribute__((unused)) void *arg)
{
	const struct eddy_trace_options options = { .path = rig_file(), .file_max = 64 * EDDY_KIB };

	for (int i = 0; i < 20; i++) {
		EXPECT_EQ(eddy_trace_start(&options), 0);
		eddy_trace_span(eddy_str_from("of a thread"), 1, 2, NULL);
		usleep(500);
		eddy_trace_stop();
	}
	atomic_store(&over, true);
	return NULL;
}

static int spins(__attribute__((unused)) void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	while (!atomic_load(&over)) {
		eddy_scope_spawn(&scope, "short", nothing, NULL);
		eddy_scope_join(&scope);
		eddy_sleep(0);
		eddy_offload(nothing, NULL);
	}
	return eddy_scope_end(&scope);
}

Test(timeline, another_thread_starts_and_stops_it)
{
	struct eddy_loops_options options = { .count = 2 };
	pthread_t thread;

	rig_path("");
	cr_assert_eq(pthread_create(&thread, NULL, starts_and_stops, NULL), 0);
	cr_expect_eq(eddy_loops_run_blocking(&options, spins, NULL), 0);
	pthread_join(thread, NULL);
	rig_read(rig_file());
	/* Its file may have been full before. */
	rig_start();
	eddy_trace_span(eddy_str_from("when all is quiet"), 1, 2, NULL);
	rig_stop();
	EXPECT_LINE("\"b\",\"pid\":1,.*when all is quiet");
	expect_report();
}
