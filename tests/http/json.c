/* Tests of eddy/json.h and http/src/text/json.h. */
#include <eddy/json.h>

#include "text/json.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdlib.h>

#include "../comma.h"
#include "../on_valgrind.h"

static int parse(const char *text, size_t len, unsigned depth_max)
{
	/* Without a NUL behind it: a byte too far is seen. */
	char *exact = malloc(len ? len : 1);
	json_t *json = NULL;
	int r;

	memcpy(exact, text, len);
	r = eddy_json_parse(eddy_str(exact, len), depth_max, 5, &json);
	free(exact);
	cr_expect(eq(int, r == 0, json != NULL));
	json_decref(json);
	return r;
}

static int parse_z(const char *text)
{
	return parse(text, strlen(text), 3);
}

Test(json, parses)
{
	static const char *const good[] = {
		"{}",
		"[]",
		"1",
		"-0.5e3",
		"\"\"",
		"true",
		"null",
		" [ 1 , 2 ] \r\n",
		"[[[]]]",
		"{\"a\":{\"b\":[]}}",
		"[\"[[[[\"]",
		"[\"\\\"[[[[\"]",
		"[\"\\\\\",[[]]]",
		"[[[]],[[]]]",
	};
	static const char *const bad[] = {
		"",
		" ",
		"{",
		"[",
		"]",
		"[1,]",
		"{\"a\"}",
		"{\"a\":}",
		"[] []",
		"[]x",
		"nul",
		"'a'",
		"[1] // x",
		"[01]",
		"[+1]",
		"[.5]",
		"[1e]",
		"[NaN]",
		"\"\t\"",
		"\"\\x\"",
		"\"\\ud800\"",
		"\"\x80\"",
		"\"\xc0\x80\"",
		"\xef\xbb\xbf[]",
		"{\"a\":1,\"a\":2}",
		"[{\"a\":1,\"\\u0061\":2}]",
		"[1e999]",
		"\"\\u0000\"",
		"{\"\\u0000\":1}",
		"[[[[]]]]",
		"{\"a\":[[[]]]}",
		"[[[[",
		"]]][[[[",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		cr_expect(eq(int, parse_z(good[i]), 0), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect(eq(int, parse_z(bad[i]), -EBADMSG), "%s", bad[i]);
	cr_expect(eq(int, parse_z("[1,[2],{\"a\":3}]"), -EMSGSIZE));
	cr_expect(eq(int, parse_z("{\"a\":1,\"b\":[{},[]]}"), 0));
	cr_expect(eq(int, parse_z("{\"a\":1,\"b\":[{},[],\",\"]}"), -EMSGSIZE));
	cr_expect(eq(int, parse("[]\0", 3, 3), -EBADMSG));
	cr_expect(eq(int, parse("[1\0]", 4, 3), -EBADMSG));
	cr_expect(eq(int, eddy_json_parse(eddy_str(NULL, 0), 3, 1, NULL), -EBADMSG));
}

/* The sender gets the place and what was expected, in ASCII and without quotes from its text. */
Test(json, says_where_it_is_not_json)
{
	static const char *const cases[][2] = {
		{ "", "it is empty" },
		{ "  ", "line 1, column 2: unexpected token near end of file" },
		{ "{\"a\":1,}", "line 1, column 8: string or '}' expected" },
		{ "{\"a\":1", "line 1, column 6: '}' expected near end of file" },
		{ "[1\n,2\n,]", "line 3, column 2: unexpected token" },
		{ "[\"\xc3\xa9\",x]", "line 1, column 6: invalid token" },
		{ "{\"a\":\"<script>\" 1}", "line 1, column 17: '}' expected" },
		{ "{\"a near 'b\":1,}", "line 1, column 16: string or '}' expected" },
		{ "{\"a\":1,\"a\":2}", "line 1, column 10: the member name is repeated" },
		{ "[1e999]", "line 1, column 6: real number overflow" },
		{ "\"\\u0000\"", "line 1, column 8: \\u0000 is not allowed" },
		{ "{\"\\u0000\":1}", "line 1, column 9: \\u0000 is not allowed" },
		{ "\"\xff\"", "line 1, column 1: unable to decode byte 0xff" },
		{ "\"\\ud800\"", "line 1, column 8: invalid Unicode '\\uD800'" },
		{ "\"\\uZ\xc3\xa9\xc3\xa9\"", "line 1, column 4: invalid escape" },
		{ "\"\x01\"", "line 1, column 1: control character 0x1" },
		{ "[[[[]]]]", "arrays and objects are nested more than 3 deep" },
	};
	char why[EDDYI_JSON_WHY_SIZE];
	char *lines = malloc(200000);
	json_t *json = NULL;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct eddy_str text = eddy_str_from(cases[i][0]);

		cr_expect(eq(int, eddyi_json_parse(text, 3, 5, &json, why), -EBADMSG), "%s",
			  cases[i][0]);
		cr_expect_str_eq(why, cases[i][1], "%s: %s", cases[i][0], why);
	}
	cr_expect(eq(int, eddyi_json_parse(EDDY_STR("[\n\"\xc3\xa9\0\"]"), 3, 5, &json, why),
		     -EBADMSG));
	cr_expect_str_eq(why, "line 2, column 3: a NUL byte");
	cr_expect(eq(int, eddyi_json_parse(EDDY_STR("[1,2]"), 3, 5, &json, why), 0));
	json_decref(json);
	/* Any byte anywhere gives one line of printable ASCII. */
	for (int byte = 0; byte < 256; byte++) {
		for (int at = 0; at < 9; at++) {
			char text[] = "[\"\\u00e9\"]";

			text[at] = (char)byte;
			if (eddyi_json_parse(eddy_str(text, sizeof(text) - 1), 3, 5, &json, why) ==
			    0)
				json_decref(json);
			else
				for (char *c = why; *c; c++)
					cr_assert(c[0] >= ' ' && c[0] <= '~', "%d at %d", byte, at);
		}
	}
	memset(lines, '\n', 200000);
	cr_expect(eq(int, eddyi_json_parse(eddy_str(lines, 200000), 3, 5, &json, why), -EBADMSG));
	cr_expect_str_eq(why, "line 200001, column 0: unexpected token near end of file");
	free(lines);
}

static unsigned allocations_left;

static void *allocate(size_t size)
{
	return allocations_left && --allocations_left ? malloc(size) : NULL;
}

/* Its first allocations are no string's: the array, its room, and what is inside. */
Test(json, says_that_memory_is_out)
{
	json_t *json;
	int r = -ENOMEM;
	unsigned room;

	json_set_alloc_funcs(allocate, free);
	for (room = 1; r == -ENOMEM && room < 32; room++) {
		allocations_left = room;
		r = eddy_json_parse(eddy_str_from("[[[],[]],[]]"), 3, 5, &json);
	}
	cr_expect(zero(int, r));
	cr_expect(gt(uint, room, 4));
	allocations_left = 32;
	json_decref(json);
}

#define DEPTH ((size_t)2000)

/* On a task's small stack. */
static int parse_deep(void *arg)
{
	char text[2 * DEPTH];

	memset(text, '[', DEPTH);
	memset(text + DEPTH, ']', DEPTH);
	return eddy_json_parse(eddy_str(text, sizeof(text)), DEPTH, DEPTH, arg);
}

Test(json, does_not_need_the_tasks_stack)
{
	const struct eddy_loop_options options = { .stack_size = 64 * EDDY_KIB };
	json_t *deep;

	cr_assert(eq(int, eddy_run(&options, parse_deep, &deep), 0));
	json_decref(deep);
}

enum level { LOW, HIGH };
static const char *const level_names[] = { "low", "high", NULL };

struct claims {
	struct eddy_str sub;
	int64_t exp;
	uint8_t small;
	double weight;
	bool admin;
	bool has_weight;
	enum level level;
};

static const struct eddy_member members[] = {
	EDDY_MEMBER(struct claims, sub, .range = { 1, 8 }),
	EDDY_MEMBER(struct claims, exp),
	EDDY_MEMBER(struct claims, small, .otherwise = "7"),
	EDDY_MEMBER(struct claims, weight, .present = EDDY_PRESENT(struct claims, has_weight)),
	EDDY_MEMBER(struct claims, admin, .optional = true),
	EDDY_MEMBER(struct claims, level, .names = level_names, .otherwise = "low"),
};

static json_t *json;

static int claim(const char *text, struct claims *claims, char *why)
{
	json_decref(json);
	cr_assert(eq(int, eddy_json_parse(eddy_str_from(text), 3, SIZE_MAX, &json), 0), "%s", text);
	return eddy_json_into(json, members, claims, why);
}

Test(json, into_a_struct)
{
	struct claims claims;

	cr_assert(eq(int,
		     claim("{\"sub\":\"me\",\"exp\":-5,\"small\":255,\"weight\":2,\"admin\":true,"
			   "\"level\":\"high\",\"x\":[]}",
			   &claims, NULL),
		     0));
	cr_expect(eddy_str_eq_z(claims.sub, "me"));
	cr_expect(eq(i64, claims.exp, -5));
	cr_expect(eq(u8, claims.small, 255));
	cr_expect(claims.weight == 2 && claims.has_weight);
	cr_expect(claims.admin);
	cr_expect(eq(int, (int)claims.level, HIGH));
	cr_assert(
		eq(int,
		   claim("{\"sub\":\"me\",\"exp\":5,\"small\":null,\"weight\":null,\"admin\":null}",
			 &claims, NULL),
		   0));
	cr_expect(eq(u8, claims.small, 7));
	cr_expect(claims.weight == 0 && !claims.has_weight && !claims.admin);
	cr_expect(eq(int, (int)claims.level, LOW));
	json_decref(json);
}

Test(json, not_what_a_strict_table_does_not_name)
{
	struct point {
		int x;
		int y;
	} point = { 5, 5 };
	static const struct eddy_member strict[] = {
		EDDY_MEMBER(struct point, x),
		EDDY_MEMBER(struct point, y, .as = "why", .optional = true, .strict = true),
	};
	json_t *good = json_pack("{s:i, s:i}", "x", 1, "why", 2);
	json_t *bad = json_pack("{s:i, s:i}", "x", 3, "y", 4);
	char why[EDDY_WHY_SIZE] = "";

	cr_expect(eq(int, eddy_json_into(good, strict, &point, why), 0), "%s", why);
	cr_expect(eq(int, eddy_json_into(bad, strict, &point, why), -EINVAL));
	cr_expect_str_eq(why, "\"y\" is unknown");
	cr_expect(eq(int, eddy_json_into(bad, strict, &point, NULL), -EINVAL));
	/* The target stays as it was. */
	cr_expect(point.x == 1 && point.y == 2);
	json_decref(good);
	json_decref(bad);
}

Test(json, not_into_a_struct)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "[]", "it must be an object" },
		{ "{}", "\"sub\" is missing: it must be text of 1 to 8 bytes" },
		{ "{\"sub\":null,\"exp\":1}", "\"sub\" must be text of 1 to 8 bytes" },
		{ "{\"sub\":1,\"exp\":1}", "\"sub\" must be text of 1 to 8 bytes" },
		{ "{\"sub\":\"\",\"exp\":1}", "\"sub\" must be text of 1 to 8 bytes" },
		{ "{\"sub\":\"a\",\"exp\":\"1\"}",
		  "\"exp\" must be an integer from -9223372036854775808 to 9223372036854775807" },
		{ "{\"sub\":\"a\",\"exp\":1.0}",
		  "\"exp\" must be an integer from -9223372036854775808 to 9223372036854775807" },
		{ "{\"sub\":\"a\",\"exp\":1,\"small\":256}",
		  "\"small\" must be an integer from 0 to 255" },
		{ "{\"sub\":\"a\",\"exp\":1,\"weight\":\"2\"}", "\"weight\" must be a number" },
		{ "{\"sub\":\"a\",\"exp\":1,\"admin\":1}", "\"admin\" must be true or false" },
		{ "{\"sub\":\"a\",\"exp\":1,\"level\":1}", "\"level\" must be one of low, high" },
		{ "{\"sub\":\"a\",\"exp\":1,\"level\":\"mid\"}",
		  "\"level\" must be one of low, high" },
	};
	char why[EDDY_WHY_SIZE];
	struct claims claims;

	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind rounds what is said of the limits");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect(eq(int, claim(cases[i].text, &claims, why), -EINVAL), "%s",
			  cases[i].text);
		cr_expect_str_eq(why, cases[i].why, "%s: %s", cases[i].text, why);
	}
	json_decref(json);
}

/* ---- shorter real numbers ---- */

static void expect_text(const char *text, const char *want)
{
	/* Without a NUL behind it: a byte too far is seen. */
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);

	memcpy(exact, text, len);
	len = eddyi_reals_shorten(exact, len);
	cr_expect(len == strlen(want) && memcmp(exact, want, len) == 0, "%s: got %.*s, not %s",
		  text, (int)len, exact, want);
	free(exact);
}

Test(json, reals_are_shortened)
{
	expect_text("0.10000000000000001", "0.1");
	expect_text("[3.1400000000000001,-2.7000000000000002]", "[3.14,-2.7]");
	expect_text("{\"a\":0.33333333333333331,\"b\":1}", "{\"a\":0.3333333333333333,\"b\":1}");
	expect_text("9.9999999999999995e-08", "1e-7");
	expect_text("[9.9999999999999998e22,1.1000000000000001e300]", "[1e23,1.1e300]");
	expect_text("[10000000000000000.0]", "[1e16]");
	expect_text("123456.10000000001", "123456.1");
}

Test(json, reals_others_stay)
{
	static const char *const same[] = {
		"",
		"0.1",
		"[]",
		"0.30000000000000004",
		"1.7976931348623157e308",
		"12345678901234560.0",
		"[123456789012345678,-9223372036854775808]",
		"\"0.10000000000000001\"",
		"\"\\\"0.10000000000000001\"",
		"{\"0.10000000000000001\":\"\\\\\"}",
		"[true,false,null]",
		/* Not JSON: whatever it is, it is left inside its bounds. */
		"\"",
		"\"\\",
		"-",
		"000000000000000000000000000000000000000000000000.0",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		expect_text(same[i], same[i]);
	expect_text("[\"\\\\\",0.10000000000000001]", "[\"\\\\\",0.1]");
}

Test(json, reals_know_no_locale)
{
	if (!switch_to_comma())
		cr_skip_test("needs localedef(1)");
	expect_text("[0.10000000000000001,9.9999999999999995e-08]", "[0.1,1e-7]");
}

/* Whatever double it is, it reads back. */
Test(json, reals_are_the_same)
{
	uint64_t bits = 1;
	double value;
	char text[64];
	json_t *json;
	size_t len;

	for (int i = 0; i < 100000; i++) {
		bits = bits * 6364136223846793005u + 1442695040888963407u;
		/* Some with few digits, too. */
		if (i % 2)
			value = (double)(int32_t)(bits >> 32) / 1000;
		else
			memcpy(&value, &bits, sizeof(value));
		json = json_real(value);
		if (!json)
			continue; /* an infinity, or no number */
		len = json_dumpb(json, text, sizeof(text), JSON_ENCODE_ANY);
		len = eddyi_reals_shorten(text, len);
		json_decref(json);
		text[len] = 0;
		/* An assertion that holds is a message, too: here they would be all that takes time. */
		if (strtod(text, NULL) != value || (i % 2 && len > 15))
			cr_fatal("%s is written for %.17g", text, value);
		json = json_loads(text, JSON_DECODE_ANY, NULL);
		if (!json_is_real(json))
			cr_fatal("%s is not a number", text);
		json_decref(json);
	}
}
