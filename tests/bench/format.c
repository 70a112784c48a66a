/* Tests of bench/eddy-bench/format.h. */
#include "format.h"

#include <criterion/criterion.h>
#include <math.h>

Test(format, values_have_three_digits_and_a_unit)
{
	static const struct {
		enum unit unit;
		double value;
		const char *text;
	} rows[] = {
		{ UNIT_GB_PER_SECOND, 3.1649, "3.16 GB/s" },
		{ UNIT_GB_PER_SECOND, 0.05004, "0.050 GB/s" },
		{ UNIT_GB_PER_SECOND, 12.345, "12.3 GB/s" },
		{ UNIT_REQUESTS_PER_SECOND, 76650.4, "76,650/s" },
		{ UNIT_REQUESTS_PER_SECOND, 1024222, "1,024,222/s" },
		{ UNIT_REQUESTS_PER_SECOND, 999.7, "1,000/s" },
		{ UNIT_SECONDS_PER_GIB, 0.3331, "0.333 s/GiB" },
		{ UNIT_SECONDS_PER_GIB, 0.00333, "0.0033 s/GiB" },
		{ UNIT_MICROSECONDS, 12.93, "12.9 µs" },
		{ UNIT_MICROSECONDS, 0.97, "0.970 µs" },
		{ UNIT_MICROSECONDS, 2320, "2.32 ms" },
		{ UNIT_MICROSECONDS, 123456, "123 ms" },
		{ UNIT_MICROSECONDS, 999.6, "1.00 ms" },
		{ UNIT_MICROSECONDS, 999.4, "999 µs" },
		{ UNIT_MICROSECONDS, 999600, "1.00 s" },
		{ UNIT_MICROSECONDS, 12345678, "12.3 s" },
		{ UNIT_BYTES, 352, "352 B" },
		{ UNIT_BYTES, 1228.8, "1.20 KiB" },
		{ UNIT_BYTES, 4096, "4 KiB" },
		{ UNIT_BYTES, 1073741824, "1 GiB" },
		{ UNIT_BYTES, 1610612736, "1.50 GiB" },
		{ UNIT_PER_GIB, 4200, "4,200" },
		{ UNIT_PER_REQUEST, 2, "2.00" },
		{ UNIT_COUNT, 3, "3" },
		{ UNIT_COUNT, -1.5, "-1.5" },
		{ UNIT_COUNT, -1234, "-1,234" },
		{ UNIT_SHARE, 0.974, "97 %" },
		{ UNIT_COUNT, NAN, "–" },
		{ UNIT_GB_PER_SECOND, 1e300, "1e+300 GB/s" },
	};
	char text[FORMAT_SIZE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_str_eq(format_value(text, rows[i].unit, rows[i].value), rows[i].text);
}

Test(format, ratios_have_two_decimals)
{
	char text[FORMAT_SIZE];

	cr_expect_str_eq(format_ratio(text, 0.8649), "0.86");
	cr_expect_str_eq(format_ratio(text, 6.918), "6.92");
	cr_expect_str_eq(format_ratio(text, 12.34), "12.3");
	cr_expect_str_eq(format_ratio(text, 1234.4), "1,234");
	cr_expect_str_eq(format_ratio(text, 0.0034), "0.0034");
	cr_expect_str_eq(format_ratio(text, NAN), "–");
}

Test(format, texts_are_cut_between_characters)
{
	char text[FORMAT_LINE_SIZE];

	cr_expect_eq(format_width("GET 4 KiB × 16"), 14);
	cr_expect_eq(format_prefix("é×x", 2), 4);
	cr_expect_eq(format_prefix("é", 9), 2);
	cr_expect_str_eq(format_cut(text, "é×x", 3), "é×x");
	cr_expect_str_eq(format_cut(text, "é×xy", 3), "é×…");
	cr_expect_str_eq(format_cut(text, "", 3), "");
}

Test(format, goals_say_what_is_asked)
{
	static const struct {
		struct goal goal;
		const char *text;
	} rows[] = {
		{ { "eddy", "nginx", "throughput", 1.05, NAN, NAN }, "throughput ≥ 1.05 × nginx" },
		{ { "eddy", "nginx", "throughput", 0.95, NAN, 1.05 },
		  "throughput ≥ 0.95 × nginx, aim 1.05" },
		{ { "eddy", "nginx", "p99", NAN, 0.8, NAN }, "p99 ≤ 0.80 × nginx" },
		{ { "eddy", NULL, "resident_each", NAN, 1228.8, NAN },
		  "memory for each connection ≤ 1.20 KiB" },
		{ { "eddy", NULL, "cpu", 0.5, 2, 1 },
		  "CPU time ≥ 0.500 µs ≤ 2.00 µs, aim 1.00 µs" },
		{ { "stalled", "alone", "threads_more", NAN, 0, NAN },
		  "threads ≤ 0 more than alone" },
		{ { "eddy", "nginx", "speed", NAN, 1, NAN }, "speed ≤ 1.00 × nginx" },
	};
	struct result *result = result_new();
	struct cell *cell = result_add_cell(result, "a");
	char text[FORMAT_LINE_SIZE], name[2001] = "";
	struct goal goal = { "eddy", name, name, NAN, 1, NAN };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_str_eq(format_goal(text, cell, &rows[i].goal), rows[i].text);
	memset(name, 'x', 2000);
	cr_expect_lt(format_width(format_goal(text, cell, &goal)), 100);
	result_free(result);
}

Test(format, intervals_have_both_ends)
{
	struct result *result = result_new();
	struct cell *cell = result_add_cell(result, "a");
	const struct figure *cpu = figure_find("cpu"), *more = figure_find("threads_more");
	struct estimate estimate = { 1, 0.9, 1.2345, 0, 0, 7 }, unknown = estimate_unknown();
	char text[FORMAT_LINE_SIZE];

	cr_expect_str_eq(format_interval(text, cpu, cell, true, &estimate), "0.90–1.23");
	cr_expect_str_eq(format_interval(text, cpu, cell, false, &estimate), "0.900 µs–1.23 µs");
	cr_expect_str_eq(format_interval(text, more, cell, true, &estimate), "0.9–1.2");
	cr_expect_str_eq(format_interval(text, cpu, cell, true, &unknown), "–");
	cr_expect_str_eq(format_against(text, cpu, cell, 1.5), "1.50 ×");
	cr_expect_str_eq(format_against(text, more, cell, 2), "2");
	result_free(result);
}
