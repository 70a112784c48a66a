/* Tests of eddy/json_depth.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/json_depth.h>

static const struct {
	const char *text;
	unsigned depth;
} rows[] = {
	{ "", 0 },
	{ "1", 0 },
	{ "\"[{\"", 0 },
	{ "[]", 1 },
	{ "{\"a\":{}}", 2 },
	{ "[[],[],{}]", 2 },
	{ "[\"]]\\\"[[\",[1]]", 2 },
	{ "[\"\\\\\",[[]]]", 3 },
	/* What is no JSON. */
	{ "]]][", 1 },
	{ "[[[[", 4 },
	{ "\"\\", 0 },
};

Test(json_depth, is_that_of_the_deepest)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(eq(uint, eddy_json_depth(eddy_str_from(rows[i].text)), rows[i].depth),
			  "%s", rows[i].text);
}

Test(json_depth, looks_no_further_than_the_text)
{
	cr_expect_eq(eddy_json_depth(eddy_str("[[[[", 2)), 2);
	cr_expect_eq(eddy_json_depth(eddy_str(NULL, 0)), 0);
}
