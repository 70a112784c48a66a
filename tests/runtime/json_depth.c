/* Tests of eddy/json_depth.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/internal/json_depth.h>

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

Test(json_depth, is_that_of_the_deepest_and_values_are_counted)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t values = 0;

		cr_expect(eq(uint, eddyi_json_depth(eddy_str_from(rows[i].text), &values),
			     rows[i].depth),
			  "%s", rows[i].text);
		cr_expect(eq(sz, values, rows[i].values), "%s", rows[i].text);
	}
}

Test(json_depth, looks_no_further_than_the_text)
{
	cr_expect_eq(eddyi_json_depth(eddy_str("[[[[", 2), NULL), 2);
	cr_expect_eq(eddyi_json_depth(eddy_str(NULL, 0), NULL), 0);
}
