/* Tests of eddy/str.h. */
#include "../comma.h"

#include <eddy/internal/text.h>
#include <eddy/str.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
	double value;
	const char *text;
} rows[] = {
	{ 0, "0" },
	{ -0.0, "-0" },
	{ 0.1, "0.1" },
	{ 0.5, "0.5" },
	{ -1.25, "-1.25" },
	{ 5, "5" },
	{ 1.0 / 3, "0.3333333333333333" },
	{ 0.1 + 0.2, "0.30000000000000004" },
	{ 1e21, "1e+21" },
	{ 1e-7, "1e-07" },
	{ 123456789.125, "123456789.125" },
	{ DBL_MAX, "1.7976931348623157e+308" },
	{ -DBL_MIN, "-2.2250738585072014e-308" },
	{ 5e-324, "4.94065645841247e-324" },
	{ NAN, "NaN" },
	{ INFINITY, "Infinity" },
	{ -INFINITY, "-Infinity" },
};

static void expect_rows(void)
{
	char text[EDDYI_F64_SIZE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(eddyi_f64_format(rows[i].value, text), strlen(rows[i].text));
		cr_expect_str_eq(text, rows[i].text);
	}
}

Test(str, doubles_have_as_few_digits_as_they_need)
{
	expect_rows();
}

Test(str, doubles_know_no_locale)
{
	if (!switch_to_comma())
		cr_skip_test("needs localedef(1)");
	cr_assert_str_eq(localeconv()->decimal_point, ",");
	expect_rows();
}

static void check_number(uint64_t value)
{
	char wanted[EDDY_U64_SIZE], text[EDDY_U64_SIZE];
	size_t len = eddy_u64_format(value, text);
	uint64_t again = ~value;

	snprintf(wanted, sizeof(wanted), "%" PRIu64, value);
	cr_expect_str_eq(text, wanted);
	cr_expect_eq(len, strlen(wanted));
	cr_expect(eddy_str_to_u64(eddy_str(text, len), &again) == 0 && again == value);
}

Test(str, numbers_are_written_and_read)
{
	uint64_t power = 1;

	for (int i = 0; i < 20; i++, power *= 10) {
		check_number(power - 1);
		check_number(power);
		check_number(power + 1);
		check_number(power * 7 / 3);
	}
	check_number(UINT64_MAX);
	check_number(UINT64_MAX - 1);
}

Test(str, what_is_no_number_is_refused)
{
	static const char *const wrong[] = { "", "-1", "+1", " 1", "1 ", "0x1", "1.0", "a" };
	uint64_t value;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_eq(eddy_str_to_u64(eddy_str_from(wrong[i]), &value), -EINVAL, "%s",
			     wrong[i]);
	cr_expect_eq(eddy_str_to_u64(eddy_str_from("18446744073709551616"), &value), -ERANGE);
}

/* Each byte at each place among plain ones. */
Test(str, plain_text_ends_where_something_else_begins)
{
	char text[24];

	for (int byte = 0; byte < 256; byte++) {
		bool is_plain = byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';

		for (size_t at = 0; at < sizeof(text); at++) {
			size_t wanted = is_plain ? sizeof(text) : at, seen;

			memset(text, 'x', sizeof(text));
			text[at] = (char)byte;
			seen = eddyi_str_plain_len(eddy_str(text, sizeof(text)));
			if (seen != wanted)
				cr_expect_eq(seen, wanted, "byte %d at %zu: %zu", byte, at, seen);
		}
	}
	cr_expect_eq(eddyi_str_plain_len(EDDY_STR("")), 0);
	for (size_t len = 0; len < sizeof(text); len++)
		cr_expect_eq(eddyi_str_plain_len(eddy_str("abcdefghijklmnopqrstuvwxyz", len)), len);
}

Test(str, characters_have_a_length)
{
	static const struct {
		const char *text;
		size_t len;
	} cases[] = {
		{ "", 0 },
		{ "a", 1 },
		{ "\xc3\xa4", 2 },
		{ "\xe2\x82\xac", 3 },
		{ "\xf0\x9f\x8c\x80", 4 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		{ "\x80", 0 },
		{ "\xc3", 0 },
		{ "\xc3x", 0 },
		{ "\xc0\xaf", 0 },
		{ "\xe0\x80\xaf", 0 },
		{ "\xed\xa0\x80", 0 },
		{ "\xf0\x80\x80\xaf", 0 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xff", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(eddyi_str_utf8_len(eddy_str_from(cases[i].text)), cases[i].len, "%zu",
			     i);
}

Test(str, is_split_and_trimmed)
{
	struct eddy_str rest = eddy_str_from("a,,b"), piece;

	cr_expect(eddy_str_split(&rest, ',', &piece) && eddy_str_eq_z(piece, "a"));
	cr_expect(eddy_str_split(&rest, ',', &piece) && eddy_str_eq_z(piece, ""));
	cr_expect(eddy_str_split(&rest, ',', &piece) && eddy_str_eq_z(piece, "b"));
	cr_expect(!eddy_str_split(&rest, ',', &piece));
	cr_expect(eddy_str_eq_z(eddy_str_trim(eddy_str_from(" \ta b\t ")), "a b"));
	cr_expect(eddy_str_eq_z(eddy_str_trim(eddy_str_from(" \t ")), ""));
	cr_expect(eddy_str_eq_nocase(eddy_str_from("Ab[9"), eddy_str_from("aB[9")));
	cr_expect(!eddy_str_eq_nocase(eddy_str_from("a["), eddy_str_from("a{")));
}

/* One without a pointer is the empty string, and no business of memcmp()'s. */
Test(str, begins_with)
{
	struct eddy_str none = { 0 }, text = eddy_str_from("text/plain");

	cr_expect(eddy_str_starts(text, eddy_str_from("text/")));
	cr_expect(eddy_str_starts(text, text));
	cr_expect(!eddy_str_starts(text, eddy_str_from("text/plain;")));
	cr_expect(!eddy_str_starts(text, eddy_str_from("Text/")));
	cr_expect(eddy_str_starts(none, none));
	cr_expect(eddy_str_starts(text, none));
	cr_expect(!eddy_str_starts(none, text));
}
