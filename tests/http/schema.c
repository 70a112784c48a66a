/* Tests of http/src/openapi/schema.h. */
#include "openapi/schema.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/app.h>
#include <stdio.h>

static struct eddyi_schemas schemas;

static void begin(void)
{
	schemas = (struct eddyi_schemas){ .app = eddy_app_new(), .named = json_object() };
}

static void end(void)
{
	cr_expect(not(schemas.has_failed));
	json_decref(schemas.named);
	eddy_app_free(schemas.app);
}

TestSuite(schema, .init = begin, .fini = end);

/* Compare with a JSON text, which may have ' for ". Takes ownership of `json`. */
static void expect(json_t *json, const char *text)
{
	char want[1024];
	json_t *wanted;
	size_t i = 0;

	for (; text[i]; i++)
		want[i] = text[i] == '\'' ? '"' : text[i];
	want[i] = '\0';
	wanted = json_loads(want, 0, NULL);
	cr_assert(ne(ptr, wanted, NULL), "%s", text);
	if (!json_equal(json, wanted)) {
		char *got = json_dumps(json, 0);

		cr_expect(false, "%s, not %s", got, want);
		free(got);
	}
	json_decref(json);
	json_decref(wanted);
}

static const char *const colors[] = { "red", "green", NULL };

struct all {
	signed char i8;
	unsigned char u8;
	short i16;
	unsigned short u16;
	int i32;
	unsigned u32;
	long i64;
	unsigned long u64;
	double real;
	bool yes;
	bool has_time;
	struct eddy_time time;
	struct eddy_str text;
	int color;
	int *numbers;
	size_t number_count;
};

#define SCHEMA_OF(...)                                                                             \
	eddyi_schema_of_member(&schemas, &(const struct eddy_member)__VA_ARGS__, EDDYI_INPUT)

Test(schema, numbers)
{
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, i8)),
	       "{'type': 'integer', 'minimum': -128, 'maximum': 127}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, u8)),
	       "{'type': 'integer', 'minimum': 0, 'maximum': 255}");
	/* JSON has no number above the greatest double. */
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, real, .range = { 1.5L, 1e4000L })),
	       "{'type': 'number', 'minimum': 1.5}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, i16)),
	       "{'type': 'integer', 'minimum': -32768, 'maximum': 32767}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, u16)),
	       "{'type': 'integer', 'minimum': 0, 'maximum': 65535}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, i32)), "{'type': 'integer', 'format': 'int32'}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, u32)),
	       "{'type': 'integer', 'minimum': 0, 'maximum': 4294967295}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, i64, .otherwise = "-1")),
	       "{'type': 'integer', 'format': 'int64', 'default': -1}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, i64, .otherwise = "007")),
	       "{'type': 'integer', 'format': 'int64'}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, u64)), "{'type': 'integer', 'minimum': 0}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, u64, .range = { 1, 0x1p63L })),
	       "{'type': 'integer', 'minimum': 1, 'maximum': 9223372036854775808.0}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, real, .range = { 0, 0.5 })),
	       "{'type': 'number', 'minimum': 0, 'maximum': 0.5}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, real, .null = true)),
	       "{'type': ['number', 'null']}");
}

Test(schema, texts)
{
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, text, .range = { 5, 9 })),
	       "{'type': 'string', 'minLength': 2, 'maxLength': 9}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, text, .format = EDDY_FORMAT_UUID)),
	       "{'type': 'string', 'format': 'uuid'}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, text, .pattern = EDDY_PATTERN("^[a-z]+$"))),
	       "{'type': 'string', 'pattern': '^[a-z]+$'}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, text, .pattern = EDDY_PATTERN("^[[:alpha:]]$"))),
	       "{'type': 'string'}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, time)),
	       "{'type': 'string', 'format': 'date-time'}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, yes, .otherwise = "true")),
	       "{'type': 'boolean', 'default': true}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, color, .names = colors, .otherwise = "red")),
	       "{'type': 'string', 'enum': ['red', 'green'], 'default': 'red'}");
	expect(SCHEMA_OF(EDDY_MEMBER(struct all, color, .names = colors, .null = true)),
	       "{'type': ['string', 'null'], 'enum': ['red', 'green', null]}");
	expect(SCHEMA_OF(EDDY_ARRAY(struct all, numbers, number_count, .range = { 0, 3 })),
	       "{'type': 'array', 'items': {'type': 'integer', 'format': 'int32'},"
	       " 'minItems': 0, 'maxItems': 3}");
}

struct inner {
	int number;
};

struct outer {
	struct inner inner;
	struct inner *inners;
	size_t inner_count;
	bool has_number;
	int number;
	struct eddy_str text;
};

static const struct eddy_member inner_members[] = { EDDY_MEMBER(struct inner, number) };

static const struct eddy_member outer_members[] = {
	EDDY_OBJECT(struct outer, inner, .of = EDDY_SHAPE(struct inner, inner_members),
		    .optional = true, .null = true),
	EDDY_ARRAY(struct outer, inners, inner_count, .of = EDDY_SHAPE(struct inner, inner_members),
		   .strict = true),
	EDDY_MEMBER(struct outer, number, .as = "a number",
		    .present = EDDY_PRESENT(struct outer, has_number)),
	EDDY_MEMBER(struct outer, text, .otherwise = "x"),
};

#define REF(name) "{'$ref': '#/components/schemas/" name "'}"

/* With a default, a member is only missing in requests. */
Test(schema, structs)
{
	expect(eddyi_schema_of(&schemas, EDDY_SHAPE(struct outer, outer_members), EDDYI_INPUT),
	       REF("outer"));
	expect(eddyi_schema_array_of(&schemas, EDDY_SHAPE(struct outer, outer_members),
				     EDDYI_OUTPUT),
	       "{'type': 'array', 'items': " REF("outer_output") "}");
	expect(eddyi_schema_of(&schemas, EDDY_SHAPE(struct inner, inner_members), EDDYI_OUTPUT),
	       REF("inner"));
	cr_expect(eq(sz, json_object_size(schemas.named), 3));
	expect(json_incref(json_object_get(schemas.named, "outer")),
	       "{'type': 'object', 'properties': {"
	       "  'inner': {'anyOf': [" REF(
		       "inner") ", {'type': 'null'}]},"
				"  'inners': {'type': 'array', 'items': " REF(
					"inner") "},"
						 "  'a number': {'type': 'integer', 'format': 'int32'},"
						 "  'text': {'type': 'string', 'default': 'x'}},"
						 " 'required': ['inners'], 'additionalProperties': false}");
	expect(json_incref(
		       json_object_get(json_object_get(schemas.named, "outer_output"), "required")),
	       "['inner', 'inners', 'text']");
}

struct tree {
	struct tree *trees;
	size_t count;
};

static const struct eddy_shape tree_shape;
static const struct eddy_member tree_members[] = {
	EDDY_ARRAY(struct tree, trees, count, .of = &tree_shape),
};
static const struct eddy_shape tree_shape = { tree_members, 1, sizeof(struct tree), NULL };

Test(schema, of_itself_and_of_equal_names)
{
	static const struct eddy_member members[1] = { EDDY_MEMBER(struct inner, number) };

	expect(eddyi_schema_of(&schemas, &tree_shape, EDDYI_INPUT), REF("object"));
	expect(eddyi_schema_of(&schemas, EDDY_SHAPE(struct inner, members), EDDYI_INPUT),
	       REF("members"));
	expect(eddyi_schema_of(&schemas,
			       &(const struct eddy_shape){ inner_members, 1, sizeof(struct inner),
							   "members" },
			       EDDYI_INPUT),
	       REF("members_2"));
	expect(json_incref(json_object_get(schemas.named, "object")),
	       "{'type': 'object', 'properties': {"
	       "  'trees': {'type': 'array', 'items': " REF("object") "}}, 'required': ['trees']}");
}
