/* Tests of pairs.h. The decoding of one pair is path.c's. */
#include "text/pairs.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct eddyi_arena arena;

static void teardown(void)
{
	eddyi_arena_deinit(&arena);
	eddyi_arena_trim();
}

TestSuite(pairs, .fini = teardown);

static void expect(const char *text, const char *want)
{
	struct eddy_pairs pairs;
	char got[256] = "";

	cr_assert(eq(int, eddyi_pairs_parse(&arena, eddy_str_from(text), &pairs), 0));
	for (size_t i = 0; i < pairs.count; i++)
		sprintf(got + strlen(got), "%.*s=%.*s;", EDDY_FMT(pairs.list[i].name),
			EDDY_FMT(pairs.list[i].value));
	cr_expect_str_eq(got, want, "%s: %s", text, got);
}

Test(pairs, order)
{
	expect("", "");
	expect("a", "a=;");
	expect("a=1", "a=1;");
	expect("&&a=1&&b=2&", "a=1;b=2;");
	expect("b=2&a=1&b=3", "b=2;a=1;b=3;");
	expect("a+b=c%20d&e=%zz&f=%", "a b=c d;e=%zz;f=%;");
	expect("=x&=&a==b", "=x;=;a==b;");
}

Test(pairs, first_value)
{
	struct eddy_pairs pairs;
	struct eddy_str value;

	cr_assert(eq(int, eddyi_pairs_parse(&arena, eddy_str_from("a=1&b&a=2&A=3"), &pairs), 0));
	cr_expect(eq(int, eddyi_pairs_find(&pairs, "a", &value), 0));
	cr_expect(eddy_str_eq_z(value, "1"));
	cr_expect(eq(int, eddyi_pairs_find(&pairs, "b", &value), 0));
	cr_expect(eq(sz, value.len, 0));
	cr_expect(eq(int, eddyi_pairs_find(&pairs, "c", &value), -ENOENT));
}

/* What many pairs cost is known before the first one is looked at. */
Test(pairs, limit)
{
	size_t len = 2 * EDDYI_PAIRS_MAX - 1;
	char *text = malloc(len + 2);
	struct eddy_pairs pairs;

	for (size_t i = 0; i < len + 2; i++)
		text[i] = i % 2 ? '&' : 'a';
	cr_expect(eq(int, eddyi_pairs_parse(&arena, eddy_str(text, len), &pairs), 0));
	cr_expect(eq(sz, pairs.count, EDDYI_PAIRS_MAX));
	cr_expect(eq(int, eddyi_pairs_parse(&arena, eddy_str(text, len + 1), &pairs), 0));
	cr_expect(eq(int, eddyi_pairs_parse(&arena, eddy_str(text, len + 2), &pairs), -EMSGSIZE));
	free(text);
}
