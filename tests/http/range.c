/* Tests of http/src/message/range.h. */
#include <errno.h>
#include "message/range.h"

#include "vectors.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* The ranges as "first-last,…", or "none" or "416". The value is given without a NUL behind it. */
static const char *parse(const char *value, uint64_t size)
{
	static char out[1024];
	size_t len = strlen(value);
	char *exact = malloc(len ? len : 1);
	enum eddyi_range_result result;
	struct eddyi_ranges ranges;
	char *at = out;

	memcpy(exact, value, len);
	result = eddyi_range_parse(eddy_str(exact, len), size, &ranges);
	free(exact);
	if (result != EDDYI_RANGE_SATISFIABLE)
		return result == EDDYI_RANGE_NONE ? "none" : "416";
	for (size_t i = 0; i < ranges.count; i++)
		at += sprintf(at, "%s%" PRIu64 "-%" PRIu64, i ? "," : "", ranges.ranges[i].first,
			      ranges.ranges[i].last);
	return out;
}

Test(range, parses)
{
	/* clang-format off */
	static const struct {
		uint64_t size;
		const char *value, *want;
	} cases[] = {
		{ 11, "", "none" },
		{ 11, "bytes", "none" },
		{ 11, "bytes=", "none" },
		{ 11, "bytes=,", "none" },
		{ 11, "bytes= , ,", "none" },
		{ 11, "=0-4", "none" },
		{ 11, "0-4", "none" },
		{ 11, "bytes 0-4", "none" },
		{ 11, "bytes =0-4", "none" },
		{ 11, "items=0-4", "none" },
		{ 11, "bytes2=0-4", "none" },
		{ 11, "bytes=0-4", "0-4" },
		{ 11, "Bytes=0-4", "0-4" },
		{ 11, "BYTES=0-4", "0-4" },
		{ 11, "bytes=\t0-4 ", "0-4" },
		{ 11, "bytes= ,0-4,, ,", "0-4" },
		{ 11, "bytes=0-0", "0-0" },
		{ 11, "bytes=10-10", "10-10" },
		{ 11, "bytes=00000000000000000000000000-000004", "0-4" },
		{ 11, "bytes=2-", "2-10" },
		{ 11, "bytes=0-", "0-10" },
		{ 11, "bytes=10-", "10-10" },
		{ 11, "bytes=11-", "416" },
		{ 11, "bytes=11-11", "416" },
		{ 11, "bytes=5-1000", "5-10" },
		{ 11, "bytes=-5", "6-10" },
		{ 11, "bytes=-11", "0-10" },
		{ 11, "bytes=-12", "0-10" },
		{ 11, "bytes=-1", "10-10" },
		{ 11, "bytes=-0", "416" },
		{ 11, "bytes=-000", "416" },
		{ 11, "bytes=-0,11-", "416" },
		{ 11, "bytes=-0,0-0", "0-0" },
		{ 11, "bytes=5-2", "none" },
		{ 11, "bytes=0-1,5-2", "none" },
		{ 11, "bytes=20-15", "none" },
		{ 11, "bytes=-", "none" },
		{ 11, "bytes=--1", "none" },
		{ 11, "bytes=-1-", "none" },
		{ 11, "bytes=1--2", "none" },
		{ 11, "bytes=1-2-3", "none" },
		{ 11, "bytes=1 -2", "none" },
		{ 11, "bytes=1- 2", "none" },
		{ 11, "bytes=1", "none" },
		{ 11, "bytes=+1-2", "none" },
		{ 11, "bytes=1-+2", "none" },
		{ 11, "bytes=0x1-0x2", "none" },
		{ 11, "bytes=1.0-2", "none" },
		{ 11, "bytes=1e1-", "none" },
		{ 11, "bytes=a-b", "none" },
		{ 11, "bytes=0-1;2-3", "none" },
		{ 11, "bytes=0-1,x", "none" },
		{ 11, "bytes=x,0-1", "none" },
		{ 11, "bytes=100-,x", "none" },
		{ 11, "bytes=0-1,bytes=3-4", "none" },
		{ 11, "bytes=\"0-1\"", "none" },
		{ 11, "bytes=0-1,5-8", "0-1,5-8" },
		{ 11, "bytes=5-8,0-1", "5-8,0-1" },
		{ 11, "bytes=0-1,2-3", "0-3" },
		{ 11, "bytes=2-3,0-1", "0-3" },
		{ 11, "bytes=0-0,4-4,2-2", "0-0,4-4,2-2" },
		{ 11, "bytes=0-0,4-4,1-3", "0-4" },
		{ 11, "bytes=4-4,8-8,0-0,3-5", "3-5,8-8,0-0" },
		{ 11, "bytes=8-8,4-4,0-0,1-3", "8-8,0-4" },
		{ 11, "bytes=0-0,-1", "0-0,10-10" },
		{ 11, "bytes=0-1,100-200,-1", "0-1,10-10" },
		{ 11, "bytes=0-1,1-2", "0-2" },
		{ 11, "bytes=1-2,0-1", "0-2" },
		{ 11, "bytes=0-5,3-7", "0-7" },
		{ 11, "bytes=0-5,3-8", "none" },
		{ 11, "bytes=0-10", "0-10" },
		{ 11, "bytes=0-4,5-10", "0-10" },
		{ 11, "bytes=0-4,5-10,20-", "0-10" },
		{ 11, "bytes=0-10,5-5", "none" },
		{ 11, "bytes=0-0,0-0", "0-0" },
		{ 11, "bytes=0-,-1", "none" },
		{ 11, "bytes=9-50,10-", "9-10" },
		/* Numbers that no machine word holds. */
		{ 11, "bytes=0-18446744073709551615", "0-10" },
		{ 11, "bytes=0-18446744073709551616", "0-10" },
		{ 11, "bytes=18446744073709551616-", "416" },
		{ 11, "bytes=18446744073709551616-18446744073709551617", "416" },
		{ 11, "bytes=99999999999999999999999999999999-5", "none" },
		{ 11, "bytes=-99999999999999999999999999999999", "0-10" },
		{ 11, "bytes=-18446744073709551617", "0-10" },
		{ UINT64_MAX, "bytes=-1", "18446744073709551614-18446744073709551614" },
		{ UINT64_MAX, "bytes=18446744073709551614-", "18446744073709551614-18446744073709551614" },
		{ UINT64_MAX, "bytes=18446744073709551615-", "416" },
		{ UINT64_MAX, "bytes=0-18446744073709551615", "0-18446744073709551614" },
		{ UINT64_MAX, "bytes=0-18446744073709551615,0-0", "none" },
		{ UINT64_MAX, "bytes=-1,18446744073709551613-18446744073709551613", "18446744073709551613-18446744073709551614" },
		{ 1, "bytes=0-", "0-0" },
		{ 1, "bytes=1-", "416" },
		{ 0, "bytes=0-", "none" },
		{ 0, "bytes=0-0", "none" },
		{ 0, "bytes=-1", "none" },
		{ 0, "bytes=-0", "none" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(parse(cases[i].value, cases[i].size), cases[i].want, "\"%s\"",
				 cases[i].value);
}

Test(range, at_most_two_hundred)
{
	char value[4096] = "bytes=";
	struct eddyi_ranges ranges;

	for (int i = 0; i < EDDYI_RANGE_MAX; i++)
		sprintf(value + strlen(value), "%d-%d,", 2 * i, 2 * i);
	cr_assert(eq(int, eddyi_range_parse(eddy_str_from(value), 1000, &ranges),
		     EDDYI_RANGE_SATISFIABLE));
	cr_expect(eq(sz, ranges.count, EDDYI_RANGE_MAX));
	strcat(value, "50-50");
	cr_expect_str_eq(parse(value, 1000), "none");
}

Test(range, formats)
{
	char buffer[EDDYI_RANGE_TEXT_SIZE];
	struct eddyi_range range = { 0, 4 };

	cr_expect_str_eq(eddyi_range_format(range, 11, buffer).ptr, "bytes 0-4/11");
	cr_expect_str_eq(eddyi_range_format_unsatisfied(11, buffer).ptr, "bytes */11");
	cr_expect(eq(sz, eddyi_range_format_unsatisfied(0, buffer).len, 9));
	range = (struct eddyi_range){ UINT64_MAX, UINT64_MAX };
	cr_expect_str_eq(eddyi_range_format(range, UINT64_MAX, buffer).ptr,
			 "bytes 18446744073709551615-18446744073709551615/18446744073709551615");
}

/* Where we differ from a vector file on purpose, and what we say. */
struct deviation {
	const char *value, *want;
};

static const char *deviates(const struct deviation *deviations, const char *value)
{
	for (; deviations->value; deviations++)
		if (!strcmp(deviations->value, value))
			return deviations->want;
	return NULL;
}

static const struct deviation go_deviations[] = {
	/* Go answers 416 for malformed as for unsatisfiable; we ignore what is malformed. Go's "no
	 * ranges" stands for both, so only what it takes and we don't is listed: */
	{ "bytes=-2 , 7-", "7-10" },                       /* overlaps: one range */
	{ "bytes=500-700,601-999", "500-999" },            /* overlaps */
	{ "bytes=500-600,601-999", "500-999" },            /* adjoins */
	{ "bytes=   1 -2   ,  4- 5, 7 - 8 , ,,", "none" }, /* blanks within a range */
	{ NULL, NULL },
};

Test(range, vectors_go)
{
	json_t *root = vectors_load("range/go_net_http_range.json"), *test, *pair;
	const char *want, *got, *value;
	size_t i, j;

	json_array_foreach(json_object_get(root, "serve_file"), i, test)
	{
		int status = json_integer_value(json_object_get(test, "status"));

		value = json_string_value(json_object_get(test, "range"));
		got = parse(value, 11);
		cr_expect(eq(int,
			     !strcmp(got, "none") ? 200 :
			     !strcmp(got, "416")  ? 416 :
						    206,
			     status),
			  "%s", value);
	}
	json_array_foreach(json_object_get(root, "empty_file_ranges"), i, test) cr_expect_str_eq(
		parse(json_string_value(json_object_get(test, "range")), 0), "none");
	json_array_foreach(json_object_get(root, "parse"), i, test)
	{
		json_t *result = json_object_get(test, "result");
		char text[1024] = "";

		value = json_string_value(json_object_get(test, "range"));
		got = parse(value, json_integer_value(json_object_get(test, "size")));
		json_array_foreach(result, j, pair)
		{
			long first = json_integer_value(json_array_get(pair, 0));

			sprintf(text + strlen(text), "%s%ld-%lld", j ? "," : "", first,
				first + json_integer_value(json_array_get(pair, 1)) - 1);
		}
		want = deviates(go_deviations, value);
		if (json_is_null(result) && !want) {
			/* "bytes=15-,0-5" of 10: Go gives up, RFC 9110 lets the first go. */
			if (!strcmp(value, "bytes=15-,0-5"))
				want = "0-5";
			else
				cr_expect(strcmp(got, "none") == 0 || strcmp(got, "416") == 0, "%s",
					  value);
		}
		if (want || !json_is_null(result))
			cr_expect_str_eq(got, want ? want : text, "%s", value);
	}
	json_decref(root);
}

static const struct deviation parser_deviations[] = {
	/* range-parser drops malformed members one by one; we ignore the field then. */
	{ "bytes=500-20", "none" },
	{ "bytes=abc-def,500-999", "none" },
	{ "bytes=500-999,xyz-uvw", "none" },
	{ "bytes=abc-def,500-999,xyz-uvw", "none" },
	{ "bytes=100-200,x-", "none" },
	{ "bytes=x-,0-100,y-", "none" },
	{ "bytes=0-50,abc-def,100-150", "none" },
	/* It knows units other than bytes, and merges only where it is told to. */
	{ "items=0-5", "none" },
	{ "bytes=40-80,81-90,-1", "40-90,999-999" },
	{ "bytes=   40-80 , 81-90 , -1 ", "40-90,999-999" },
	{ NULL, NULL },
};

Test(range, vectors_range_parser)
{
	json_t *root = vectors_load("range/range_parser.json"), *test, *range;
	size_t i, j;

	json_array_foreach(json_object_get(root, "cases"), i, test)
	{
		const char *value = json_string_value(json_object_get(test, "range"));
		json_t *result = json_object_get(test, "result");
		const char *want = deviates(parser_deviations, value);
		char text[1024] = "";

		if (!want && json_is_integer(result))
			want = json_integer_value(result) == -1 ? "416" : "none";
		json_array_foreach(json_object_get(result, "ranges"), j, range)
			sprintf(text + strlen(text), "%s%lld-%lld", j ? "," : "",
				json_integer_value(json_object_get(range, "start")),
				json_integer_value(json_object_get(range, "end")));
		cr_expect_str_eq(parse(value, json_integer_value(json_object_get(test, "size"))),
				 want ? want : text, "%s", value);
	}
	json_decref(root);
}

Test(range, parses_content_ranges)
{
	static const struct {
		const char *value;
		int r;
		uint64_t first, last, size;
	} rows[] = {
		{ "bytes 0-4/11", 0, 0, 4, 11 },
		{ "BYTES 5-5/6", 0, 5, 5, 6 },
		{ "bytes 5-10/*", 0, 5, 10, UINT64_MAX },
		{ "bytes */11", -EINVAL, 0, 0, 0 },
		{ "bytes 5-11/11", -EINVAL, 0, 0, 0 },
		{ "bytes 5-4/11", -EINVAL, 0, 0, 0 },
		{ "bytes 5-4/*", -EINVAL, 0, 0, 0 },
		{ "bytes 0-4/11 ", -EINVAL, 0, 0, 0 },
		{ "bytes 0-4/*1", -EINVAL, 0, 0, 0 },
		{ "bytes 0-4/", -EINVAL, 0, 0, 0 },
		{ "bytes=0-4/11", -EINVAL, 0, 0, 0 },
		{ "items 0-4/11", -EINVAL, 0, 0, 0 },
		{ "bytes 0-18446744073709551615/*", -EINVAL, 0, 0, 0 },
		{ "bytes 0-4/18446744073709551616", -EINVAL, 0, 0, 0 },
		{ "", -EINVAL, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct eddyi_range range = { 0, 0 };
		uint64_t size = 0;
		int r = eddyi_range_parse_content(eddy_str_from(rows[i].value), &range, &size);

		cr_expect(eq(int, r, rows[i].r), "%s", rows[i].value);
		cr_expect(eq(u64, range.first, rows[i].first), "%s", rows[i].value);
		cr_expect(eq(u64, range.last, rows[i].last), "%s", rows[i].value);
		cr_expect(eq(u64, size, rows[i].size), "%s", rows[i].value);
	}
}
