/* Tests of bench/eddy-bench/result.h. */
#include "result.h"

#include "../folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of these bytes, in a folder that nobody else has; freed by drop(). */
static char *file_of(const char *bytes, size_t len)
{
	char *path = strdup("/tmp/eddy-result-XXXXXX");
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, len), (ssize_t)len);
	close(fd);
	return path;
}

static void drop(char *path)
{
	unlink(path);
	free(path);
}

static int load(const char *text, struct result **ret_result, char error[RESULT_ERROR_SIZE])
{
	char *path = file_of(text, strlen(text));
	int r = result_load(path, ret_result, error);

	drop(path);
	return r;
}

static void fill(struct result *result)
{
	struct cell *cell = result_add_cell(result, "get-4k-16");
	struct target *eddy = cell_add_target(result, cell, "eddy");
	struct target *nginx = cell_add_target(result, cell, "nginx");
	struct sample *sample = target_add_sample(result, eddy);
	struct goal *goal = cell_add_goal(result, cell);

	result->when = result_text(result, "2026-11-22T14:00:00Z");
	result->machine.processors = 2;
	result->settings.seconds = 0.1;
	cell->title = result_text(result, "GET 4 KiB × 16");
	cell->size = 4096;
	cell->cold = true;
	cell->against = nginx->name;
	eddy->server.pid = 17;
	sample->requests = 12345;
	sample->cpu_seconds = 0.25;
	sample->total_us.p999 = 1234.5;
	buckets_add(result, &eddy->histogram.total, 10.5, 3);
	buckets_add(result, &eddy->histogram.total, 11, 4);
	buckets_add(result, &eddy->histogram.total, 12, 5);
	goal->target = eddy->name;
	goal->figure = result_text(result, "cpu");
	goal->at_most = 0.65;
	cell_add_remark(result, cell, "one");
	cell_add_remark(result, cell, "two");
	/* What is derived is derived anew. */
	cell_add_remark(result, cell, "derived");
	cell->derived_count = 1;
	result_add_remark(result, "of all");
}

Test(result, comes_back_as_it_was_saved)
{
	struct result *result = result_new(), *again;
	char error[RESULT_ERROR_SIZE];
	char *path = file_of("", 0);
	const struct cell *cell;
	const struct target *eddy;

	fill(result);
	cr_assert_eq(result_save(result, path, error), 0);
	result_free(result);
	cr_assert_eq(result_load(path, &again, error), 0, "%s", error);
	drop(path);

	cr_expect_str_eq(again->when, "2026-11-22T14:00:00Z");
	cr_expect_eq(again->command, NULL);
	cr_expect_eq(again->machine.processors, 2);
	cr_expect(isnan(again->machine.memory_bytes));
	cr_expect_eq(again->settings.seconds, 0.1);
	cr_assert_eq(again->cell_count, 1);
	cell = result_cell(again, "get-4k-16");
	cr_assert_neq(cell, NULL);
	cr_expect_str_eq(cell->title, "GET 4 KiB × 16");
	cr_expect_eq(cell->size, 4096);
	cr_expect(isnan(cell->rate));
	cr_expect(cell->cold && !cell->verified);
	cr_assert_eq(cell->target_count, 2);
	cr_expect_eq(cell_target(cell, "lwan"), NULL);
	eddy = cell_target(cell, "eddy");
	cr_expect_eq(eddy->server.pid, 17);
	cr_assert_eq(eddy->sample_count, 1);
	cr_expect_eq(eddy->samples[0]->requests, 12345);
	cr_expect_eq(eddy->samples[0]->cpu_seconds, 0.25);
	cr_expect(isnan(eddy->samples[0]->threads));
	cr_expect_eq(eddy->samples[0]->total_us.p999, 1234.5);
	cr_assert_eq(eddy->histogram.total.count, 3);
	cr_expect_eq(eddy->histogram.total.of[0].us, 10.5);
	cr_expect_eq(eddy->histogram.total.of[2].count, 5);
	cr_assert_eq(cell->goal_count, 1);
	cr_expect_eq(cell->goals[0]->at_most, 0.65);
	cr_expect_eq(cell->goals[0]->against, NULL);
	cr_assert_eq(cell->remark_count, 2);
	cr_expect_str_eq(cell->remarks[1], "two");
	cr_expect_str_eq(again->remarks[0], "of all");
	result_free(again);
}

Test(result, passes_over_what_it_does_not_know)
{
	struct result *result;
	char error[RESULT_ERROR_SIZE] = "";

	cr_assert_eq(
		load("{\"eddy_bench\":1,\"new\":{\"a\":[1,{}]},\"machine\":null,\"cells\":[{\"name\":\"a\",\"hue\":3,"
		     "\"targets\":[{\"name\":\"e\",\"server\":null,\"samples\":[{\"requests\":null,\"x\":-1}]}]}]}",
		     &result, error),
		0, "%s", error);
	cr_expect(isnan(result->cells[0]->targets[0]->samples[0]->requests));
	cr_expect_str_eq(result->cells[0]->title, "a");
	result_free(result);
}

#define CELL(members) "{\"eddy_bench\":1,\"cells\":[{\"name\":\"a\"," members "}]}"
#define SAMPLE(members) CELL("\"targets\":[{\"name\":\"e\",\"samples\":[{},{" members "}]}]")
#define HISTOGRAM(pairs)                                                                           \
	CELL("\"targets\":[{\"name\":\"e\",\"histogram\":{\"total\":[" pairs "]}}]")

Test(result, says_what_is_wrong_and_where)
{
	/* clang-format off */
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "", "line 1: " },
		{ "{\"eddy_bench\":1,}", "line 1: " },
		{ "[]", "this is not a result of eddy-bench" },
		{ "{}", "this is not a result of eddy-bench" },
		{ "{\"eddy_bench\":\"1\"}", "this is not a result of eddy-bench" },
		{ "{\"eddy_bench\":2}", "this result is of another version of eddy-bench" },
		{ "{\"eddy_bench\":1,\"eddy_bench\":1}", "line 1: " },
		{ "{\"eddy_bench\":1,\"machine\":3}", "machine is not an object" },
		{ "{\"eddy_bench\":1,\"machine\":{\"cpu\":3}}", "machine.cpu is not a string" },
		{ "{\"eddy_bench\":1,\"settings\":{\"rounds\":\"7\"}}", "settings.rounds is not a number" },
		{ "{\"eddy_bench\":1,\"cells\":{}}", "cells is not an array" },
		{ "{\"eddy_bench\":1,\"cells\":[[]]}", "cells[0] is not an object" },
		{ "{\"eddy_bench\":1,\"cells\":[null]}", "cells[0] is not an object" },
		{ "{\"eddy_bench\":1,\"cells\":[{}]}", "cells[0] has no name" },
		{ "{\"eddy_bench\":1,\"cells\":[{\"name\":\"\"}]}", "cells[0] has no name" },
		{ "{\"eddy_bench\":1,\"cells\":[{\"name\":\"a\"},{\"name\":\"a\"}]}", "cells[1] has the name of another cell" },
		{ "{\"eddy_bench\":1,\"remarks\":[7]}", "remarks[0] is not a string" },
		{ CELL("\"cold\":1"), "cells[0].cold is neither true nor false" },
		{ CELL("\"size\":-1"), "cells[0].size is a number out of range" },
		{ CELL("\"size\":1e19"), "cells[0].size is a number out of range" },
		{ CELL("\"size\":1e999"), "line 1: " },
		{ CELL("\"remarks\":[[]]"), "cells[0].remarks[0] is not a string" },
		{ CELL("\"targets\":[{\"name\":\"e\"},{\"name\":\"e\"}]"), "cells[0].targets[1] has the name of another target" },
		{ CELL("\"targets\":[{\"name\":\"e\",\"server\":{\"pid\":\"x\"}}]"), "cells[0].targets[0].server.pid is not a number" },
		{ SAMPLE("\"requests\":\"x\""), "cells[0].targets[0].samples[1].requests is not a "
						"number" },
		{ SAMPLE("\"total_us\":7"), "cells[0].targets[0].samples[1].total_us is not an "
					    "object" },
		{ SAMPLE("\"total_us\":{\"p99\":-7}"), "cells[0].targets[0].samples[1].total_us.p99 is a number out of range" },
		{ HISTOGRAM("[1]"), "cells[0].targets[0].histogram.total[0] is not a pair of "
				    "microseconds and a count" },
		{ HISTOGRAM("[1,2],[1,3]"), "cells[0].targets[0].histogram.total[1] is not above the one before" },
		{ HISTOGRAM("[0.1,2],[0.10000000000000002,3]"), "cells[0].targets[0].histogram.total[1] is not above the one before" },
		{ HISTOGRAM("[1,\"2\"]"), "cells[0].targets[0].histogram.total[0] is not a "
					  "number" },
		{ CELL("\"goals\":[{\"figure\":\"cpu\",\"at_most\":1}]"), "cells[0].goals[0] needs a target and a figure" },
		{ CELL("\"goals\":[{\"target\":\"e\",\"figure\":\"cpu\",\"aim\":1}]"), "cells[0].goals[0] needs at_least or at_most" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char error[RESULT_ERROR_SIZE] = "";
		const char *said;
		struct result *result;

		cr_assert_eq(load(rows[i].text, &result, error), -EBADMSG, "%s", rows[i].text);
		said = strstr(error, ": ");
		cr_assert_neq(said, NULL);
		/* Behind the line's number it is jansson's. */
		cr_expect(strncmp(said + 2, rows[i].error, strlen(rows[i].error)) == 0,
			  "%s, not: %s", error, rows[i].error);
	}
}

/* `head`, then `count` times `item`, then `tail`. */
static char *repeated(const char *head, const char *item, size_t count, const char *tail)
{
	char *text = malloc(strlen(head) + count * strlen(item) + strlen(tail) + 1), *end;

	end = stpcpy(text, head);
	while (count--)
		end = stpcpy(end, item);
	strcpy(end, tail);
	return text;
}

static void expect_refused(char *text, const char *why)
{
	char error[RESULT_ERROR_SIZE] = "";
	struct result *result;

	cr_expect_eq(load(text, &result, error), -EBADMSG);
	cr_expect(strstr(error, why), "%s", error);
	free(text);
}

Test(result, has_limits)
{
	expect_refused(repeated("{\"eddy_bench\":1,\"x\":", "[", 100000, ""), "too deep");
	expect_refused(repeated("{\"eddy_bench\":1,\"x\":[0", ",0", RESULT_VALUES_MAX, "]}"),
		       "too many values");
	expect_refused(repeated("{\"eddy_bench\":1,\"remarks\":[\"\"", ",\"\"", RESULT_LINES_MAX,
				"]}"),
		       "remarks has too many elements");
	expect_refused(repeated("{\"eddy_bench\":1,\"cells\":[{}", ",{}", RESULT_CELLS_MAX, "]}"),
		       "cells has too many elements");
}

Test(result, reads_no_more_than_it_has_a_limit_for)
{
	char *path = file_of("{}", 2);
	char error[RESULT_ERROR_SIZE];
	struct result *result;

	cr_assert_eq(truncate(path, RESULT_BYTES_MAX + 1), 0);
	cr_expect_eq(result_load(path, &result, error), -EFBIG);
	cr_expect(strstr(error, "File too large"), "%s", error);
	cr_assert_eq(truncate(path, 10), 0);
	cr_expect_eq(result_load(path, &result, error), -EBADMSG);
	cr_expect(strstr(error, "NUL byte"), "%s", error);
	drop(path);
	cr_expect_eq(result_load("/nowhere/at/all", &result, error), -ENOENT);
	cr_expect_eq(result_load("/dev/zero", &result, error), -EISDIR);
}

Test(result, has_texts_that_are_clean)
{
	static const struct {
		const char *text, *clean;
	} rows[] = {
		{ "GET 4 KiB × 16 <b>&\"'|", "GET 4 KiB × 16 <b>&\"'|" },
		{ "\x1b[31mred\x7f", "\xef\xbf\xbd[31mred\xef\xbf\xbd" },
		{ "a\tb\nc\rd", "a b c d" },
		{ "\xff\xc0\x80\xed\xa0\x80",
		  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc2\x9b", "\xef\xbf\xbd" }, /* CSI of C1 */
		{ "a\xe2\x80\xae"
		  "b",
		  "a\xef\xbf\xbd"
		  "b" }, /* right to left */
		{ "\xe2\x80\xa8\xe2\x81\xa6\xef\xbf\xbf\xf0\x9f\xbf\xbe",
		  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "", "" },
	};
	struct result *result = result_new();
	char *text = repeated("", "é", RESULT_TEXT_MAX, "");
	const char *cut = result_text(result, text);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_str_eq(result_text(result, rows[i].text), rows[i].clean);
	cr_expect_eq(result_text(result, NULL), NULL);
	cr_expect_leq(strlen(cut), RESULT_TEXT_MAX);
	cr_expect_geq(strlen(cut), RESULT_TEXT_MAX - 2);
	cr_expect_str_eq(cut + strlen(cut) - strlen("é…"), "é…");
	cr_expect_str_eq(result_text(result, cut), cut);
	free(text);
	result_free(result);
}

Test(result, takes_its_name_once_it_is_whole)
{
	char path[64], error[RESULT_ERROR_SIZE] = "";
	struct stat st;

	make_folder();
	snprintf(path, sizeof(path), "%s/a/b", folder);
	cr_expect_eq(save_file(path, "x", 1, error), -ENOENT);
	cr_expect(strstr(error, "No such file"), "%s", error);
	snprintf(path, sizeof(path), "%s/b", folder);
	cr_expect_eq(save_file(path, "long", 4, error), 0);
	cr_expect_eq(save_file(path, "x", 1, error), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_size, 1);
	cr_expect_eq(save_file("/dev/null", "x", 1, error), 0);
	cr_expect_eq(save_file("/dev/full", "x", 1, error), -ENOSPC);
	unlink(path);
	/* Nothing else was left there. */
	remove_empty_folder();
}

Test(result, is_freed_when_there_is_none)
{
	result_free(NULL);
	result_free(result_new());
}
