#include <criterion/criterion.h>
#include <eddy/internal/log.h>
#include <eddy/log.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log/log.h"

static struct eddyi_log_filter filter;

static bool lets(enum eddy_log_level level, const char *target)
{
	return eddyi_log_filter_lets(&filter, level, target);
}

Test(log, filter_unset_or_blank_means_info)
{
	const char *texts[] = { NULL, "", "  ", "," };

	for (size_t i = 0; i < 4; i++) {
		eddyi_log_filter_parse(&filter, texts[i]);
		cr_expect(lets(EDDY_LOG_INFO, "any"));
		cr_expect(!lets(EDDY_LOG_DEBUG, "any"));
		cr_expect_str_eq(filter.bad, "");
	}
}

Test(log, filter_longest_part_decides)
{
	eddyi_log_filter_parse(&filter, "eddy::app=trace, info ,eddy=error,eddy::app::x=off");
	cr_expect_eq(filter.level, EDDY_LOG_TRACE);
	cr_expect(lets(EDDY_LOG_TRACE, "eddy::app"));
	cr_expect(lets(EDDY_LOG_TRACE, "eddy::app::y"));
	cr_expect(!lets(EDDY_LOG_ERROR, "eddy::app::x"));
	cr_expect(lets(EDDY_LOG_ERROR, "eddy"));
	cr_expect(!lets(EDDY_LOG_WARN, "eddy::net"));
	cr_expect(!lets(EDDY_LOG_WARN, "eddy::application"));
	cr_expect(lets(EDDY_LOG_INFO, "eddying"));
	cr_expect(!lets(EDDY_LOG_DEBUG, "other"));
}

Test(log, filter_uncovered_targets_are_off)
{
	eddyi_log_filter_parse(&filter, "eddy::app=DEBUG,eddy::app=Warn");
	cr_expect(!lets(EDDY_LOG_ERROR, "other"));
	cr_expect(lets(EDDY_LOG_WARN, "eddy::app"));
	cr_expect(!lets(EDDY_LOG_INFO, "eddy::app"), "the last of two holds");
}

Test(log, filter_bad_parts_are_noted_and_the_rest_holds)
{
	char huge[2000];

	eddyi_log_filter_parse(&filter, "loud,a=b,=info,x=,a=debug=info,x y=info,app=debug");
	cr_expect_str_eq(filter.bad,
			 "\"loud\", \"a=b\", \"=info\", \"x=\", \"a=debug=info\", \"x y=info\"");
	cr_expect(lets(EDDY_LOG_DEBUG, "app"));
	cr_expect(!lets(EDDY_LOG_ERROR, "a"));

	eddyi_log_filter_parse(&filter, "loud");
	cr_expect(lets(EDDY_LOG_INFO, "any"), "a filter that says nothing is no filter");

	memset(huge, 'a', sizeof(huge));
	huge[sizeof(huge) - 1] = 0;
	eddyi_log_filter_parse(&filter, huge);
	cr_expect(filter.bad[0] && lets(EDDY_LOG_INFO, "any"));
}

/* The last record, as a text line without its time. */
static char seen[EDDY_LOG_LINE_MAX];
static int seen_count;

static void see(const struct eddy_record *record, void *arg)
{
	static char line[EDDY_LOG_LINE_MAX];
	size_t len = eddy_log_format_text(record, false, line);

	(void)arg;
	line[len - 1] = 0;
	/* Not memmove() in one buffer: valgrind 3.19 takes it for memcpy(). */
	memcpy(seen, line + strlen("2026-11-20T12:00:00.000000Z "), len - 28);
	seen_count++;
	eddy_error("inside", "a subscriber's own records are dropped");
	errno = ENOTTY;
}

static int evaluated;

static int evaluate(void)
{
	return ++evaluated;
}

Test(log, nothing_is_evaluated_without_a_subscriber)
{
	eddy_error("test", "%d", evaluate());
	eddy_log(EDDY_LOG_ERROR, "test", EDDY_FIELDS(eddy_field_i64("n", evaluate())), "x");
	cr_expect_eq(evaluated, 0);
	cr_expect(!eddy_log_is_enabled(EDDY_LOG_ERROR, "test"));

	unsetenv("EDDY_LOG");
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	eddy_debug("test", "%d", evaluate());
	cr_expect_eq(evaluated, 0);
	eddy_info("test", "%d", evaluate());
	cr_expect_str_eq(seen, " INFO test: 1");
	eddy_log_unsubscribe();
	eddy_info("test", "%d", evaluate());
	cr_expect_eq(evaluated, 1);
	eddy_log_unsubscribe();
}

Test(log, one_subscriber_at_a_time)
{
	cr_expect_eq(eddy_log_set_filter("info"), -ENOENT);
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	cr_expect_eq(eddy_log_subscribe(see, NULL), -EBUSY);
	cr_expect_eq(eddy_log_text_subscribe(), -EBUSY);
	eddy_log_unsubscribe();
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
}

/* What is written to stderr from here to said_on_stderr(). */
static int kept_stderr, stderr_memory;

static void take_stderr(void)
{
	kept_stderr = dup(STDERR_FILENO);
	stderr_memory = memfd_create("stderr", MFD_CLOEXEC);
	dup2(stderr_memory, STDERR_FILENO);
}

static const char *said_on_stderr(void)
{
	static char text[4096];
	ssize_t len = pread(stderr_memory, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	dup2(kept_stderr, STDERR_FILENO);
	close(kept_stderr);
	close(stderr_memory);
	return text;
}

/* With EDDY_DEBUG: as long as the program has no subscriber, and no longer. */
Test(log, stands_in_while_there_is_no_subscriber)
{
	const char *said;

	unsetenv("EDDY_LOG");
	take_stderr();
	eddyi_log_stand_in();
	eddy_info("test", "one");
	eddy_warn("test", "two");
	cr_expect_eq(eddy_log_set_filter("info"), -ENOENT);
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	cr_expect_eq(eddy_log_subscribe(see, NULL), -EBUSY);
	eddy_warn("test", "three");
	cr_expect_str_eq(seen, " WARN test: three");
	eddy_log_unsubscribe();
	eddy_error("test", "four");
	setenv("EDDY_LOG", "off", 1);
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	eddy_log_unsubscribe();
	eddy_error("test", "five");
	said = said_on_stderr();
	cr_expect(strstr(said, " WARN test: two\n"), "%s", said);
	cr_expect(strstr(said, "ERROR test: four\n"), "%s", said);
	cr_expect(!strstr(said, "one") && !strstr(said, "three") && !strstr(said, "five"), "%s",
		  said);
}

Test(log, a_failure_is_said_without_a_subscriber)
{
	const char *said;

	setenv("EDDY_LOG", "off", 1);
	take_stderr();
	eddyi_log_failure("test", "can't start: %d", 1);
	eddy_error("test", "nothing");
	unsetenv("EDDY_LOG");
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	eddyi_log_failure("test", "can't start: %d", 2);
	eddy_log_unsubscribe();
	said = said_on_stderr();
	cr_expect(strstr(said, "ERROR test: can't start: 1\n"), "%s", said);
	cr_expect_eq(strchr(said, '\n'), said + strlen(said) - 1, "%s", said);
	cr_expect_str_eq(seen, "ERROR test: can't start: 2");
}

static void *fail_many(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		eddyi_log_failure("test", "can't start");
	return NULL;
}

static void ignore(const struct eddy_record *record, void *arg)
{
	(void)record;
	(void)arg;
}

static void fail_inside(const struct eddy_record *record, void *arg)
{
	(void)record;
	(void)arg;
	eddyi_log_failure("test", "inside a subscriber");
}

/* It does not subscribe: the program can meanwhile, and other records go nowhere. */
Test(log, failures_leave_the_subscriber_alone)
{
	int fds[2], times = 300, lines = 0, busy = 0;
	pthread_t threads[2];
	char line[256];
	FILE *in;

	cr_assert_eq(pipe(fds), 0);
	cr_assert(dup2(fds[1], STDERR_FILENO) == STDERR_FILENO);
	close(fds[1]);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, fail_many, &times), 0);
	for (int i = 0; i < 20000; i++)
		eddy_info("test", "not for stderr");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	close(STDERR_FILENO);
	in = fdopen(fds[0], "r");
	while (fgets(line, sizeof(line), in)) {
		cr_expect(strstr(line, "ERROR test: can't start\n"), "%s", line);
		lines++;
	}
	fclose(in);
	cr_expect_eq(lines, 2 * times);
	open("/dev/null", O_WRONLY);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, fail_many, &times), 0);
	for (int i = 0; i < 1000; i++) {
		busy += eddy_log_subscribe(ignore, NULL) != 0;
		eddy_log_unsubscribe();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(busy, 0);
	cr_assert_eq(eddy_log_subscribe(fail_inside, NULL), 0);
	eddy_error("test", "returns");
}

Test(log, malformed_filter_is_one_warning)
{
	setenv("EDDY_LOG", "eddy::app=trace,verbose", 1);
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	cr_expect_str_eq(
		seen,
		" WARN eddy::log: EDDY_LOG: invalid parts are ignored: \"verbose\"; write LEVEL or "
		"TARGET=LEVEL");
	cr_expect_eq(seen_count, 1);
	eddy_error("other", "off");
	cr_expect_eq(seen_count, 1);
	cr_expect(eddy_log_is_enabled(EDDY_LOG_TRACE, "eddy::app"));
	cr_expect(!eddy_log_is_enabled(EDDY_LOG_ERROR, "eddy"));

	cr_expect_eq(eddy_log_set_filter("warn,x"), -EINVAL);
	cr_expect(eddy_log_is_enabled(EDDY_LOG_WARN, "other"));
	cr_expect_eq(eddy_log_set_filter("off"), 0);
	cr_expect(!eddy_log_is_enabled(EDDY_LOG_ERROR, "other"));
}

Test(log, fields_of_every_type)
{
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	errno = EPIPE;
	eddy_log(EDDY_LOG_WARN, "t",
		 EDDY_FIELDS(eddy_field_text("path", "/a-b?c=1"),
			     eddy_field_text("agent", "a \"b\" \\"), eddy_field_text("none", NULL),
			     eddy_field_i64("i", INT64_MIN), eddy_field_u64("u", UINT64_MAX),
			     eddy_field_f64("f", 0.25), eddy_field_bool("yes", true),
			     eddy_field_bool("no", false)),
		 "%m");
	cr_expect_eq(errno, EPIPE);
	cr_expect_str_eq(
		seen, " WARN t: Broken pipe path=\"/a-b?c=1\" agent=\"a \\\"b\\\" \\\\\" none=\"\" "
		      "i=-9223372036854775808 u=18446744073709551615 f=0.25 yes=true no=false");
	eddy_log(EDDY_LOG_INFO, "t", NULL, "plain");
	cr_expect_str_eq(seen, " INFO t: plain");
}

Test(log, messages_that_are_ready)
{
	char big[3000];
	size_t len;

	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	errno = EPIPE;
	eddyi_log_message(EDDY_LOG_INFO, "t", EDDY_FIELDS(eddy_field_u64("n", 7)),
			  eddy_str("100 % s", 6));
	cr_expect_eq(errno, EPIPE);
	cr_expect_str_eq(seen, " INFO t: 100 %  n=7");
	eddyi_log_message(EDDY_LOG_DEBUG, "t", NULL, EDDY_STR("x"));
	cr_expect_str_eq(seen, " INFO t: 100 %  n=7");
	memset(big, 'x', sizeof(big));
	eddyi_log_message(EDDY_LOG_INFO, "t", NULL, eddy_str(big, sizeof(big)));
	len = strlen(seen);
	cr_expect(len > 2000 && len < 2100);
	cr_expect_str_eq(seen + len - 4, "x\xe2\x80\xa6");
	eddyi_log_message(EDDY_LOG_INFO, "t", NULL, eddy_str(big, 2047));
	cr_expect_eq(strlen(seen), 2047 + strlen(" INFO t: "));
}

Test(log, times_of_any_order)
{
	static const struct {
		uint64_t time_ns;
		const char *text;
	} cases[] = {
		{ 0, "1970-01-01T00:00:00.000000Z" },
		{ 1234567890123456789, "2009-02-13T23:31:30.123456Z" },
		{ 1234567890000001999, "2009-02-13T23:31:30.000001Z" },
		{ 1234567890999999999, "2009-02-13T23:31:30.999999Z" },
		{ 1234567891000000000, "2009-02-13T23:31:31.000000Z" },
		{ 1234567890000100000, "2009-02-13T23:31:30.000100Z" },
		{ UINT64_MAX, "2554-07-21T23:34:33.709551Z" },
		{ 999, "1970-01-01T00:00:00.000000Z" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[EDDYI_LOG_TIME_SIZE];

		eddyi_log_format_time(cases[i].time_ns, text);
		cr_expect_str_eq(text, cases[i].text);
	}
}

Test(log, no_record_forges_a_second_line)
{
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	eddy_log(
		EDDY_LOG_INFO, "t\n", EDDY_FIELDS(eddy_field_text("k\n", "\033[2J\r\n\t\x7f\xff")),
		"a\nb \xc2\x85 \xe2\x80\xa8 \xe2\x80\xae \xed\xa0\x80 \xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\x80 \xc3");
	cr_expect_str_eq(seen, " INFO t\\n: a\\nb \\xc2\\x85 \\xe2\\x80\\xa8 \\xe2\\x80\\xae "
			       "\\xed\\xa0\\x80 \xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\x80 \\xc3 "
			       "k\\n=\"\\x1b[2J\\r\\n\\t\\x7f\\xff\"");
}

Test(log, long_records_are_cut_and_say_so)
{
	char big[8000], *middle = big + 1;
	size_t len;

	memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = 0;
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	eddy_info("t", "%s", big);
	len = strlen(seen);
	cr_expect(len > 2000 && len < 2100);
	cr_expect_str_eq(seen + len - 4, "x\xe2\x80\xa6");

	eddy_log(EDDY_LOG_INFO, "t", EDDY_FIELDS(eddy_field_text("big", big)), "m");
	len = strlen(seen);
	cr_expect(len > 4000 && len < 4096);
	cr_expect_str_eq(seen + len - 5, "x \xe2\x80\xa6");

	/* Not in the middle of a character, wherever the limit falls. */
	for (size_t i = 0; i + 2 < sizeof(big); i += 2)
		memcpy(middle + i, "\xc3\xa4", 2);
	for (int shift = 0; shift < 2; shift++) {
		eddy_info("t", "%s", middle - shift);
		cr_expect(!strstr(seen, "\\x"));
	}
}

Test(log, colour_is_closed_on_every_line)
{
	static char big[5000];
	struct eddy_record record = { .level = EDDY_LOG_ERROR, .target = "t" };
	char line[EDDY_LOG_LINE_MAX];
	size_t len;

	memset(big, 'x', sizeof(big));
	record.message = eddy_str(big, sizeof(big));
	len = eddy_log_format_text(&record, true, line);
	cr_assert(len <= sizeof(line));
	cr_expect(memcmp(line + len - 5, "\033[0m\n", 5) == 0);
	record.message = EDDY_STR("m");
	len = eddy_log_format_text(&record, true, line);
	line[len] = 0;
	cr_expect_str_eq(line, "\033[2m1970-01-01T00:00:00.000000Z \033[0m\033[31mERROR \033[0m"
			       "\033[2mt: \033[0mm\n");
}

static int inner(void *arg)
{
	(void)arg;
	eddy_yield();
	eddy_log(EDDY_LOG_INFO, "t", EDDY_FIELDS(eddy_field_u64("own", 1), eddy_field_u64("id", 3)),
		 "in");
	return seen_count == 1 && strcmp(seen, " INFO t: in own=1 id=3 name=x outer=true") == 0 ?
		       0 :
		       -EPROTO;
}

static void on_loop_stack(void *arg)
{
	(void)arg;
	eddy_info("t", "deep");
}

static int scopes(void *arg)
{
	struct eddy_scope outer, scope;
	int r;

	(void)arg;
	eddy_scope_begin(&outer,
			 &(struct eddy_scope_options){
				 .log_fields = EDDY_FIELDS(eddy_field_bool("outer", true)) });
	eddy_scope_begin(&scope, &(struct eddy_scope_options){
					 .shielded = true,
					 .log_fields = EDDY_FIELDS(eddy_field_u64("id", 7),
								   eddy_field_text("name", "x")) });
	eddy_scope_spawn(&scope, "inner", inner, NULL);
	eddy_scope_join(&scope);
	r = eddy_scope_end(&scope);
	eddy_on_loop_stack(on_loop_stack, NULL);
	eddy_scope_end(&outer);
	return r;
}

Test(log, records_have_the_fields_of_their_scopes)
{
	int r;

	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	r = eddy_run(NULL, scopes, NULL);
	cr_expect_eq(r, 0, "%d: %s", r, seen);
	cr_expect_str_eq(seen, " INFO t: deep outer=true");
	eddy_info("t", "after");
	cr_expect_str_eq(seen, " INFO t: after");
}

static size_t write_lazy(const void *data, char text[EDDY_FIELD_LAZY_MAX])
{
	unsigned *calls = (unsigned *)data;

	return (size_t)snprintf(text, EDDY_FIELD_LAZY_MAX, "call %u", ++*calls);
}

/* A lazy field is written for a record that is wanted, once, and not where its name is taken. */
Test(log, lazy_fields_are_written_when_they_are_wanted)
{
	struct eddy_field fields[11] = { 0 };
	unsigned calls = 0;

	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	fields[0] = eddy_field_lazy("a", write_lazy, &calls);
	fields[1] = eddy_field_lazy("a", write_lazy, &calls);
	eddy_log(EDDY_LOG_DEBUG, "t", fields, "m");
	cr_expect_eq(calls, 0);
	eddy_log(EDDY_LOG_INFO, "t", fields, "m");
	cr_expect_str_eq(seen, " INFO t: m a=\"call 1\"");
	for (int i = 0; i < 10; i++)
		fields[i] = eddy_field_lazy(&"0123456789"[9 - i], write_lazy, &calls);
	eddy_log(EDDY_LOG_INFO, "t", fields, "m");
	cr_expect_eq(calls, 9, "%u", calls);
}

Test(log, many_fields_are_bounded)
{
	static char names[40][16];
	struct eddy_field fields[41] = { 0 };

	for (int i = 0; i < 40; i++) {
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		fields[i] = eddy_field_i64(names[i], i);
	}
	cr_assert_eq(eddy_log_subscribe(see, NULL), 0);
	eddy_log(EDDY_LOG_INFO, "t", fields, "m");
	cr_expect(strstr(seen, "f31=31") && !strstr(seen, "f32"));
}

static void *emit_many(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		eddy_info("t", "x %d", i);
	return NULL;
}

/* Lines of several threads through one pipe stay whole. */
Test(log, text_is_one_write_a_record)
{
	pthread_t threads[3];
	char line[256];
	int fds[2], lines = 0, per_thread = 25; /* they all fit into the smallest pipe */
	FILE *in;

	cr_assert_eq(pipe(fds), 0);
	cr_assert(dup2(fds[1], STDERR_FILENO) == STDERR_FILENO);
	close(fds[1]);
	unsetenv("EDDY_LOG");
	cr_assert_eq(eddy_log_text_subscribe(), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, emit_many, &per_thread), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	eddy_log_unsubscribe();
	close(STDERR_FILENO);
	in = fdopen(fds[0], "r");
	while (fgets(line, sizeof(line), in)) {
		int number, end = 0;

		cr_assert(sscanf(line, "%*d-%*d-%*dT%*d:%*d:%*fZ  INFO t: x %d%n", &number, &end) ==
			  1);
		cr_assert_str_eq(line + end, "\n");
		lines++;
	}
	fclose(in);
	cr_expect_eq(lines, 75);
}

static void count(const struct eddy_record *record, void *arg)
{
	(void)record;
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_RELAXED);
}

/* After unsubscribing the subscriber's memory may go. */
Test(log, unsubscribe_waits_for_running_calls)
{
	pthread_t thread;
	int times = 5000;

	unsetenv("EDDY_LOG");
	cr_assert_eq(pthread_create(&thread, NULL, emit_many, &times), 0);
	for (int i = 0; i < 200; i++) {
		int *counter = calloc(1, sizeof(*counter));

		cr_assert_eq(eddy_log_subscribe(count, counter), 0);
		eddy_info("t", "x");
		eddy_log_unsubscribe();
		cr_assert(*counter >= 1);
		free(counter);
	}
	pthread_join(thread, NULL);
}
