/* Tests of eddy/internal/json.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/internal/json.h>

#include <float.h>
#include <math.h>

static char buffer[512];

static struct eddyi_text begin(size_t size)
{
	memset(buffer, 0, sizeof(buffer));
	return (struct eddyi_text){ .at = buffer, .end = buffer + size };
}

Test(json, is_written_piece_by_piece)
{
	struct eddyi_text json = begin(sizeof(buffer));

	eddyi_json_begin(&json, "{");
	eddyi_json_name(&json, "unsigned");
	eddyi_json_u64(&json, UINT64_MAX);
	eddyi_json_name(&json, "signed");
	eddyi_json_i64(&json, INT64_MIN);
	eddyi_json_open(&json, "numbers", "[");
	eddyi_json_f64(&json, 0.1);
	eddyi_json_f64(&json, -DBL_MAX);
	eddyi_json_f64(&json, NAN);
	eddyi_json_f64(&json, -INFINITY);
	eddyi_json_u64_str(&json, UINT64_MAX);
	eddyi_json_i64_str(&json, INT64_MIN);
	eddyi_json_i64_str(&json, 7);
	eddyi_json_end(&json, ']');
	eddyi_json_open(&json, "none", "[");
	eddyi_json_begin(&json, "{");
	eddyi_json_end(&json, '}');
	eddyi_json_begin(&json, "[");
	eddyi_json_end(&json, ']');
	eddyi_json_end(&json, ']');
	eddyi_json_name_str(&json, EDDY_STR("a\"b"));
	eddyi_json_str(&json, EDDY_STR(""));
	eddyi_json_name(&json, "yes");
	eddyi_json_bool(&json, true);
	eddyi_json_name(&json, "no");
	eddyi_json_bool(&json, false);
	eddyi_json_name(&json, "id");
	eddyi_json_hex(&json, "\x01\xab", 2);
	eddyi_json_plain(&json, "level", "INFO");
	eddyi_json_last(&json, '}');
	cr_expect_str_eq(
		buffer,
		"{\"unsigned\":18446744073709551615,\"signed\":-9223372036854775808,"
		"\"numbers\":[0.1,-1.7976931348623157e+308,null,null,\"18446744073709551615\","
		"\"-9223372036854775808\",\"7\"],\"none\":[{},[]],\"a\\\"b\":\"\",\"yes\":true,"
		"\"no\":false,\"id\":\"01ab\",\"level\":\"INFO\"}",
		"%s", buffer);
	cr_expect(not(json.full));
}

/* What does not fit is taken back, and what follows is written after what was there before. */
Test(json, takes_a_member_back)
{
	struct eddyi_text json = begin(20);
	char *before;

	eddyi_json_begin(&json, "{");
	eddyi_json_name(&json, "a");
	eddyi_json_u64(&json, 1);
	before = json.at;
	eddyi_json_name_str(&json, EDDY_STR("b"));
	eddyi_json_str(&json, EDDY_STR("does not fit"));
	cr_expect(json.full);
	json.at = before;
	json.full = false;
	eddyi_json_name(&json, "c");
	eddyi_json_u64(&json, 2);
	eddyi_json_last(&json, '}');
	*json.at = 0;
	cr_expect_str_eq(buffer, "{\"a\":1,\"c\":2}");
}

/* A full text keeps its last comma, so that nothing of it is lost. */
Test(json, full_text_stays)
{
	struct eddyi_text json = begin(5);

	eddyi_json_begin(&json, "[");
	eddyi_json_u64(&json, 123);
	eddyi_json_u64(&json, 4);
	eddyi_json_last(&json, ']');
	cr_expect(json.full);
	cr_expect_str_eq(buffer, "[123,");
}

Test(json, strings_are_escaped)
{
	struct eddyi_text text = begin(sizeof(buffer));

	eddyi_json_str(&text, EDDY_STR("a\"\\\n\x01\x7f\xc3\xa4\xff"));
	cr_expect_str_eq(buffer, "\"a\\\"\\\\\\n\\u0001\\u007f\xc3\xa4\\ufffd\",");
	cr_expect(not(text.full));
}

/* With fewer than six bytes nothing is written, else a JSON string with a comma, and no byte after it. */
Test(json, strings_are_cut_between_characters)
{
	static const char *const wanted[] = {
		"",
		"",
		"",
		"",
		"",
		"",
		"\"…\",",
		"\"a…\",",
		"\"a…\",",
		"\"a\xc3\xa4…\",",
		"\"a\xc3\xa4…\",",
		"\"a\xc3\xa4\\n…\",",
		"\"a\xc3\xa4\\n…\",",
	};

	for (size_t size = 0; size < sizeof(wanted) / sizeof(wanted[0]); size++) {
		struct eddyi_text text = begin(size);

		eddyi_json_str(&text, EDDY_STR("a\xc3\xa4\n\x01\x01\x01\x01"));
		cr_expect(text.full && text.end == buffer + size);
		cr_expect_str_eq(buffer, wanted[size], "%zu: %s", size, buffer);
		cr_expect(buffer[size] == 0);
	}
}

static const struct {
	const char *text;
	unsigned depth;
	size_t values;
} rows[] = {
	{ "", 0, 1 },
	{ "1", 0, 1 },
	{ "\"[{,\"", 0, 1 },
	{ "[]", 1, 1 },
	{ " [ \r\n\t] ", 1, 1 },
	{ "[1]", 1, 2 },
	{ "[\"\"]", 1, 2 },
	{ "[[]]", 2, 2 },
	{ "{\"a\":{}}", 2, 2 },
	{ "{\"a\":{},\"b\":1.5}", 2, 3 },
	{ "[[],[],{}]", 2, 4 },
	{ "[{},{\"a\":[1,2]}]", 3, 6 },
	{ "[\"]]\\\"[[\",[1]]", 2, 4 },
	{ "[\"\\\\\",[[]]]", 3, 4 },
	/* What is no JSON. */
	{ "]]][", 1, 1 },
	{ "[[[[", 4, 4 },
	{ "[[1", 2, 3 },
	{ "[1,", 1, 3 },
	{ "\"\\", 0, 1 },
};

Test(json, depth_is_that_of_the_deepest_and_values_are_counted)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t values = 0;

		cr_expect(eq(uint, eddyi_json_depth(eddy_str_from(rows[i].text), &values),
			     rows[i].depth),
			  "%s", rows[i].text);
		cr_expect(eq(sz, values, rows[i].values), "%s", rows[i].text);
	}
}

Test(json, depth_looks_no_further_than_the_text)
{
	cr_expect_eq(eddyi_json_depth(eddy_str("[[[[", 2), NULL), 2);
	cr_expect_eq(eddyi_json_depth(eddy_str(NULL, 0), NULL), 0);
}
