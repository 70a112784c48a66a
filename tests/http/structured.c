/* Tests of http/src/text/structured.h. */
#include "text/structured.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static const struct {
	const char *value;
	enum eddyi_structured_type type;
	int64_t integer;
	const char *text;
} items[] = {
	{ "1", EDDYI_STRUCTURED_INTEGER, 1, "" },
	{ "-999999999999999", EDDYI_STRUCTURED_INTEGER, -999999999999999, "" },
	{ "007", EDDYI_STRUCTURED_INTEGER, 7, "" },
	{ "-0", EDDYI_STRUCTURED_INTEGER, 0, "" },
	{ "1.5", EDDYI_STRUCTURED_DECIMAL, 1, "" },
	{ "123456789012.125", EDDYI_STRUCTURED_DECIMAL, 123456789012, "" },
	{ "\"\"", EDDYI_STRUCTURED_STRING, 0, "" },
	{ "\"a, \\\"b\\\\ =\"", EDDYI_STRUCTURED_STRING, 0, "a, \\\"b\\\\ =" },
	{ "a:b/c*", EDDYI_STRUCTURED_TOKEN, 0, "a:b/c*" },
	{ "*", EDDYI_STRUCTURED_TOKEN, 0, "*" },
	{ "Z", EDDYI_STRUCTURED_TOKEN, 0, "Z" },
	{ "::", EDDYI_STRUCTURED_BYTES, 0, "" },
	{ ":Zm9v:", EDDYI_STRUCTURED_BYTES, 0, "Zm9v" },
	{ ":Zg==:", EDDYI_STRUCTURED_BYTES, 0, "Zg==" },
	{ ":Zg:", EDDYI_STRUCTURED_BYTES, 0, "Zg" },
	{ "?1", EDDYI_STRUCTURED_BOOLEAN, 1, "" },
	{ "?0", EDDYI_STRUCTURED_BOOLEAN, 0, "" },
	{ "@-1659578233", EDDYI_STRUCTURED_DATE, -1659578233, "" },
	{ "%\"f%c3%bc\"", EDDYI_STRUCTURED_DISPLAY, 0, "f%c3%bc" },
	{ "()", EDDYI_STRUCTURED_LIST, 0, "" },
	{ "(  )", EDDYI_STRUCTURED_LIST, 0, "  " },
	{ "( 1  \")\";a=1 :Zg:)", EDDYI_STRUCTURED_LIST, 0, " 1  \")\";a=1 :Zg:" },
};

Test(structured, items)
{
	for (size_t i = 0; i < COUNT(items); i++) {
		struct eddyi_structured got;
		struct eddy_str rest, key;
		char field[64];

		snprintf(field, sizeof(field), "a-_.*1=%s", items[i].value);
		rest = eddy_str_from(field);
		cr_assert(eq(int, eddyi_structured_take_entry(&rest, &key, &got), 0), "%s", field);
		cr_expect(eddy_str_eq_z(key, "a-_.*1"));
		cr_expect(eq(int, got.type, items[i].type), "%s", field);
		cr_expect(eq(i64, got.integer, items[i].integer), "%s", field);
		cr_expect(eddy_str_eq_z(got.text, items[i].text), "%s", field);
		cr_expect(eq(sz, rest.len, 0));
	}
}

/* Return: the number of entries, -EBADMSG. */
static int count(const char *field)
{
	struct eddy_str rest = eddy_str_from(field), key;
	struct eddyi_structured value;
	int entries = 0;

	for (; rest.len; entries++)
		if (eddyi_structured_take_entry(&rest, &key, &value) < 0)
			return -EBADMSG;
	return entries;
}

Test(structured, dictionaries)
{
	static const struct {
		const char *field;
		int entries;
	} fields[] = {
		{ "", 0 },
		{ "a", 1 },
		{ "a;b", 1 },
		{ "a;b=1;  c=\"x\"", 1 },
		{ "a=1,b=2", 2 },
		{ "a=1 \t,\t b=2", 2 },
		{ "a, *b=?0, a=(1 2);q=1.5", 3 },
	};

	for (size_t i = 0; i < COUNT(fields); i++)
		cr_expect(eq(int, count(fields[i].field), fields[i].entries), "%s",
			  fields[i].field);
}

Test(structured, malformed)
{
	static const char *const fields[] = {
		/* keys and commas */
		"A=1", "1=1", "-a=1", "=1", ",", "a=1,", "a=1, ", ",a=1", "a=1,,b=2", "a=1 b=2",
		"a =1", "a= 1", "a=", "a=1;", "a=1;B=1", "a=1;b=", "a=1 ;b", "a=1;\tb",
		/* numbers and dates */
		"a=-", "a=--1", "a=1234567890123456", "a=1.", "a=.1", "a=1.1234",
		"a=1234567890123.1", "a=1.2.3", "a=1x", "a=@", "a=@1.5", "a=@x",
		/* text */
		"a=\"", "a=\"\\", "a=\"\\n\"", "a=\"\x7f\"", "a=\"\xc3\xbc\"", "a='x'",
		"a=%\"%C3%BC\"", "a=%\"%c3\"", "a=%\"%\"", "a=%\"%f\"", "a=%\"\t\"", "a=%\"x",
		"a=%x\"",
		/* bytes and booleans */
		"a=:", "a=:Zg==", "a=:Zg=:", "a=:Z:", "a=:Zm-v:", "a=: Zg==:", "a=?", "a=?2",
		"a=?10", "a=?true",
		/* lists */
		"a=(", "a=(1", "a=(1,2)", "a=(1\t2)", "a=(1\"x\")", "a=(())", "a=(1;)", "a=)"
	};

	for (size_t i = 0; i < COUNT(fields); i++)
		cr_expect(eq(int, count(fields[i]), -EBADMSG), "%s", fields[i]);
}

Test(structured, leaves_everything_on_failure)
{
	struct eddy_str rest = EDDY_STR("a=1, b="), key = EDDY_STR("k");
	struct eddyi_structured value = { .integer = 7 };

	cr_expect(eq(int, eddyi_structured_take_entry(&rest, &key, &value), 0));
	cr_expect(eddy_str_eq_z(rest, "b="));
	cr_expect(eq(int, eddyi_structured_take_entry(&rest, &key, &value), -EBADMSG));
	cr_expect(eddy_str_eq_z(rest, "b="));
	cr_expect(eddy_str_eq_z(key, "a"));
	cr_expect(eq(i64, value.integer, 1));
}
