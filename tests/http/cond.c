/* Tests of http/src/message/cond.h. */
#include "message/cond.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define EXACTLY "Sun, 06 Nov 1994 08:49:37 GMT"
#define AFTER "Sun, 06 Nov 1994 08:49:38 GMT"
#define MODIFIED 784111777

#define GET EDDYI_METHOD_GET
#define HEAD EDDYI_METHOD_HEAD
#define PUT EDDYI_METHOD_PUT
#define PROCEED EDDYI_COND_PROCEED
#define NOT_MODIFIED EDDYI_COND_NOT_MODIFIED
#define FAILED EDDYI_COND_FAILED

static struct eddyi_cond_state state_with(const char *etag)
{
	struct eddyi_cond_state state = {
		.etag = eddy_str_from(etag),
		.has_modified = true,
		.modified = MODIFIED,
		.now = MODIFIED + 1000,
	};

	return state;
}

/* clang-format off */
static const struct {
	enum eddyi_method method;
	const char *match, *unmodified, *none_match, *modified;
	enum eddyi_cond_result want;
} cases[] = {
	{ GET, NULL, NULL, NULL, NULL, PROCEED },
	/* If-Match: strong. */
	{ GET, "\"a\"", NULL, NULL, NULL, PROCEED },
	{ PUT, "\"a\"", NULL, NULL, NULL, PROCEED },
	{ GET, "\"b\"", NULL, NULL, NULL, FAILED },
	{ PUT, "\"b\"", NULL, NULL, NULL, FAILED },
	{ PUT, "*", NULL, NULL, NULL, PROCEED },
	{ PUT, " * ", NULL, NULL, NULL, PROCEED },
	{ PUT, "\"*\"", NULL, NULL, NULL, FAILED },
	{ PUT, "W/\"a\"", NULL, NULL, NULL, FAILED },
	{ PUT, "w/\"a\"", NULL, NULL, NULL, FAILED },
	{ PUT, "\"b\", \"a\"", NULL, NULL, NULL, PROCEED },
	{ PUT, "\"b\",\"a\"", NULL, NULL, NULL, PROCEED },
	{ PUT, " ,, \"b\" , ,\t\"a\" ,", NULL, NULL, NULL, PROCEED },
	{ PUT, "W/\"b\", \"a\"", NULL, NULL, NULL, PROCEED },
	{ PUT, "\"x,\"a\"", NULL, NULL, NULL, FAILED },
	{ PUT, "\"x,y\", \"a\"", NULL, NULL, NULL, PROCEED },
	{ PUT, "a", NULL, NULL, NULL, FAILED },
	{ PUT, "", NULL, NULL, NULL, FAILED },
	{ PUT, ",", NULL, NULL, NULL, FAILED },
	{ PUT, "\"a", NULL, NULL, NULL, FAILED },
	{ PUT, "\"", NULL, NULL, NULL, FAILED },
	{ PUT, "W/", NULL, NULL, NULL, FAILED },
	{ PUT, "W/a", NULL, NULL, NULL, FAILED },
	{ PUT, "\"a\" \"b\"", NULL, NULL, NULL, FAILED },
	{ PUT, "\"a\", b", NULL, NULL, NULL, FAILED },
	{ PUT, "b, \"a\"", NULL, NULL, NULL, FAILED },
	{ PUT, "\"a\", *", NULL, NULL, NULL, FAILED },
	{ PUT, "\"a b\", \"a\"", NULL, NULL, NULL, FAILED },
	{ PUT, "\"\\\"a\"", NULL, NULL, NULL, FAILED },
	{ PUT, "'a'", NULL, NULL, NULL, FAILED },
	{ PUT, "\"A\"", NULL, NULL, NULL, FAILED },
	/* If-Unmodified-Since: only without If-Match. */
	{ PUT, NULL, BEFORE, NULL, NULL, FAILED },
	{ GET, NULL, BEFORE, NULL, NULL, FAILED },
	{ PUT, NULL, EXACTLY, NULL, NULL, PROCEED },
	{ PUT, NULL, AFTER, NULL, NULL, PROCEED },
	{ PUT, "\"a\"", BEFORE, NULL, NULL, PROCEED },
	{ PUT, "\"b\"", AFTER, NULL, NULL, FAILED },
	{ PUT, NULL, "yesterday", NULL, NULL, PROCEED },
	{ PUT, NULL, "", NULL, NULL, PROCEED },
	{ PUT, NULL, BEFORE ", " BEFORE, NULL, NULL, PROCEED },
	{ PUT, NULL, "Sun Nov  6 08:49:36 1994", NULL, NULL, FAILED },
	{ PUT, NULL, "Sunday, 06-Nov-94 08:49:36 GMT", NULL, NULL, FAILED },
	/* If-None-Match: weak. */
	{ GET, NULL, NULL, "\"a\"", NULL, NOT_MODIFIED },
	{ HEAD, NULL, NULL, "\"a\"", NULL, NOT_MODIFIED },
	{ PUT, NULL, NULL, "\"a\"", NULL, FAILED },
	{ GET, NULL, NULL, "W/\"a\"", NULL, NOT_MODIFIED },
	{ GET, NULL, NULL, "\"b\", W/\"a\"", NULL, NOT_MODIFIED },
	{ GET, NULL, NULL, "\"b\"", NULL, PROCEED },
	{ PUT, NULL, NULL, "\"b\"", NULL, PROCEED },
	{ GET, NULL, NULL, "*", NULL, NOT_MODIFIED },
	{ PUT, NULL, NULL, "*", NULL, FAILED },
	{ GET, NULL, NULL, "a", NULL, PROCEED },
	{ GET, NULL, NULL, "", NULL, PROCEED },
	{ GET, NULL, NULL, "\"a\", junk", NULL, PROCEED },
	/* If-Modified-Since: only without If-None-Match, only GET and HEAD. */
	{ GET, NULL, NULL, NULL, BEFORE, PROCEED },
	{ GET, NULL, NULL, NULL, EXACTLY, NOT_MODIFIED },
	{ HEAD, NULL, NULL, NULL, EXACTLY, NOT_MODIFIED },
	{ GET, NULL, NULL, NULL, AFTER, NOT_MODIFIED },
	{ PUT, NULL, NULL, NULL, AFTER, PROCEED },
	{ GET, NULL, NULL, "\"b\"", AFTER, PROCEED },
	{ GET, NULL, NULL, "\"a\"", BEFORE, NOT_MODIFIED },
	{ GET, NULL, NULL, NULL, "Sun Nov  6 08:49:37 1994", NOT_MODIFIED },
	{ GET, NULL, NULL, NULL, "Sunday, 06-Nov-94 08:49:37 GMT", NOT_MODIFIED },
	{ GET, NULL, NULL, NULL, "784111777", PROCEED },
	{ GET, NULL, NULL, NULL, EXACTLY "; length=5", PROCEED },
	/* The order: what fails first counts. */
	{ GET, "\"b\"", NULL, "\"a\"", NULL, FAILED },
	{ GET, "\"a\"", NULL, "\"a\"", NULL, NOT_MODIFIED },
	{ GET, NULL, BEFORE, "\"a\"", NULL, FAILED },
	{ GET, NULL, AFTER, NULL, AFTER, NOT_MODIFIED },
	{ GET, NULL, BEFORE, NULL, AFTER, FAILED },
};
/* clang-format on */

Test(cond, evaluates)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct eddyi_cond_state state = state_with("\"a\"");
		struct eddyi_cond_fields fields = {
			.if_match = eddy_str_from(cases[i].match),
			.if_unmodified_since = eddy_str_from(cases[i].unmodified),
			.if_none_match = eddy_str_from(cases[i].none_match),
			.if_modified_since = eddy_str_from(cases[i].modified),
		};

		cr_expect(eq(int, eddyi_cond_evaluate(&fields, &state, cases[i].method),
			     cases[i].want),
			  "case %zu", i);
	}
}

Test(cond, weak_or_no_validators)
{
	struct eddyi_cond_state state = state_with("W/\"a\"");
	struct eddyi_cond_fields fields = { .if_match = eddy_str_from("\"a\"") };

	cr_expect(eq(int, eddyi_cond_evaluate(&fields, &state, PUT), FAILED));
	fields.if_match = eddy_str_from("W/\"a\"");
	cr_expect(eq(int, eddyi_cond_evaluate(&fields, &state, PUT), FAILED));
	fields = (struct eddyi_cond_fields){ .if_none_match = eddy_str_from("\"a\"") };
	cr_expect(eq(int, eddyi_cond_evaluate(&fields, &state, GET), NOT_MODIFIED));
	state = (struct eddyi_cond_state){ .now = MODIFIED };
	cr_expect(eq(int, eddyi_cond_evaluate(&fields, &state, GET), PROCEED));
	fields.if_none_match = eddy_str_from("\"\"");
	cr_expect(eq(int, eddyi_cond_evaluate(&fields, &state, GET), PROCEED));
	fields.if_none_match = eddy_str_from("*");
	cr_expect(eq(int, eddyi_cond_evaluate(&fields, &state, GET), NOT_MODIFIED));
	fields = (struct eddyi_cond_fields){ .if_modified_since = eddy_str_from(AFTER),
					     .if_unmodified_since = eddy_str_from(BEFORE) };
	cr_expect(eq(int, eddyi_cond_evaluate(&fields, &state, GET), PROCEED));
}

Test(cond, if_range)
{
	/* clang-format off */
	static const struct {
		const char *etag, *value;
		bool want;
	} ranges[] = {
		{ "\"a\"", NULL, true },
		{ "\"a\"", "\"a\"", true },
		{ "\"a\"", " \"a\" ", true },
		{ "\"a\"", "\"b\"", false },
		{ "\"a\"", "W/\"a\"", false },
		{ "W/\"a\"", "W/\"a\"", false },
		{ "W/\"a\"", "\"a\"", false },
		{ "", "\"a\"", false },
		{ "", "\"\"", false },
		{ "\"a\"", "*", false },
		{ "\"a\"", "", false },
		{ "\"a\"", "a", false },
		{ "\"a\"", "\"a\", \"b\"", false },
		{ "\"a\"", "\"a\"x", false },
		{ "\"a\"", EXACTLY, true },
		{ "", EXACTLY, true },
		{ "\"a\"", BEFORE, false },
		{ "\"a\"", AFTER, false },
		{ "\"a\"", "Sun Nov  6 08:49:37 1994", true },
		{ "\"a\"", "Wed, 06 Nov 1994", false },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		struct eddyi_cond_state state = state_with(ranges[i].etag);
		struct eddyi_cond_fields fields = { .if_range = eddy_str_from(ranges[i].value) };

		cr_expect(eq(int, eddyi_cond_range_allowed(&fields, &state), ranges[i].want), "%s",
			  ranges[i].value);
	}
}

/* A file that was changed in this very second may change again under the same date. */
Test(cond, if_range_date_must_be_strong)
{
	struct eddyi_cond_state state = state_with("\"a\"");
	struct eddyi_cond_fields fields = { .if_range = eddy_str_from(EXACTLY) };

	state.now = MODIFIED;
	cr_expect(not(eddyi_cond_range_allowed(&fields, &state)));
	state.now = MODIFIED + 1;
	cr_expect(eddyi_cond_range_allowed(&fields, &state));
	state.has_modified = false;
	cr_expect(not(eddyi_cond_range_allowed(&fields, &state)));
}

/* ---- entity tags and modification times of files ---- */

static void expect_tag(struct stat st, const char *etag)
{
	struct eddyi_validator validator;

	eddyi_validator_init(&validator, &st);
	cr_expect(eddy_str_eq_z(validator.state.etag, etag), "%.*s",
		  EDDY_FMT(validator.state.etag));
	cr_expect(validator.state.modified == st.st_mtim.tv_sec);
}

Test(cond, tags_differ_with_inode_time_and_size)
{
	expect_tag((struct stat){ .st_ino = 0x1a2b, .st_mtim = { 0x5f, 0xabc }, .st_size = 0x10 },
		   "\"1a2b-5f00000abc-10\"");
	expect_tag((struct stat){ .st_ino = 1, .st_mtim = { 0, 999999999 }, .st_size = 0 },
		   "\"1-03b9ac9ff-0\"");
	expect_tag(
		(struct stat){ .st_ino = UINT64_MAX, .st_mtim = { -1, 0 }, .st_size = INT64_MAX },
		"\"ffffffffffffffff-ffffffffffffffff00000000-7fffffffffffffff\"");
}
