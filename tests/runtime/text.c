/* Tests of eddy/internal/text.h. */
#include "../comma.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/internal/text.h>
#include <float.h>
#include <math.h>

static char buffer[64];

static struct eddyi_text begin(size_t size)
{
	memset(buffer, 0, sizeof(buffer));
	return (struct eddyi_text){ .at = buffer, .end = buffer + size };
}

Test(text, is_written_piece_by_piece)
{
	struct eddyi_text text = begin(sizeof(buffer));

	eddyi_text(&text, "a ");
	eddyi_text_u64(&text, UINT64_MAX);
	eddyi_text(&text, " ");
	eddyi_text_i64(&text, INT64_MIN);
	eddyi_text(&text, " ");
	eddyi_text_f64(&text, -0.1);
	cr_expect_str_eq(buffer, "a 18446744073709551615 -9223372036854775808 -0.1");
	cr_expect(not(text.full));
}

Test(text, ends_at_the_first_piece_that_does_not_fit)
{
	struct eddyi_text text = begin(4);

	eddyi_text(&text, "abc");
	eddyi_text_u64(&text, 12);
	cr_expect(text.full);
	eddyi_text(&text, "d");
	cr_expect_str_eq(buffer, "abc");

	text = begin(4);
	eddyi_text_some(&text, EDDY_STR("abcd"));
	cr_expect(not(text.full));
	eddyi_text_some(&text, EDDY_STR("e"));
	cr_expect(text.full);
	cr_expect_str_eq(buffer, "abcd");
}

/* Each byte at each place among plain ones. */
Test(text, plain_text_ends_where_something_else_begins)
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

Test(text, characters_have_a_length)
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

/* All of Unicode, encoded by the book, and all that the book forbids. */
Test(text, utf8)
{
	static const char *const bad[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xc2",
		"\xc2\x41",
		"\xe0\x80\x80",
		"\xe0\x9f\xbf",
		"\xe2\x82",
		"\xe2\x82\x41",
		"\xed\xa0\x80",
		"\xed\xbf\xbf",
		"\xf0\x9f\x8c",
		"\xf0\x80\x80\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80",
		"\xff",
		"\xfe",
		"a\xc3",
	};

	for (unsigned c = 0; c <= 0x10ffff; c++) {
		char text[4];
		size_t len;

		if (c < 0x80)
			len = 1, text[0] = (char)c;
		else if (c < 0x800)
			len = 2, text[0] = (char)(0xc0 | c >> 6);
		else if (c < 0x10000)
			len = 3, text[0] = (char)(0xe0 | c >> 12);
		else
			len = 4, text[0] = (char)(0xf0 | c >> 18);
		for (size_t i = 1; i < len; i++)
			text[i] = (char)(0x80 | (c >> 6 * (len - 1 - i) & 0x3f));
		cr_assert(eq(int, eddyi_str_is_utf8(eddy_str(text, len)), c<0xd800 || c> 0xdfff),
			  "U+%X", c);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect(not(eddyi_str_is_utf8(eddy_str_from(bad[i]))), "%zu", i);
	cr_expect(eddyi_str_is_utf8(eddy_str_from("")));
	/* At each place among others. */
	for (size_t at = 0; at < 19; at++) {
		char text[] = "a line: \"\xc3\xa4\", \t\\ \xc3\xbc";

		cr_assert(eq(sz, strlen(text), 19));
		cr_expect(eddyi_str_is_utf8(eddy_str(text, 19)));
		text[at] = '\xff';
		cr_expect(not(eddyi_str_is_utf8(eddy_str(text, 19))), "%zu", at);
	}
}

Test(text, hexadecimal)
{
	char text[EDDYI_HEX_SIZE];

	for (int c = 0; c < 256; c++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF";
		const char *at = c ? strchr(digits, c) : NULL;

		cr_expect(eq(int, eddyi_hex_digit((char)c), at ? (int)(at - digits) % 16 : -1));
	}
	cr_expect(eq(sz, eddyi_u64_format_hex(0, text), 1));
	cr_expect_str_eq(text, "0");
	cr_expect(eq(sz, eddyi_u64_format_hex(0xf, text), 1));
	cr_expect(eq(sz, eddyi_u64_format_hex(0x10, text), 2));
	cr_expect_str_eq(text, "10");
	cr_expect(eq(sz, eddyi_u64_format_hex(0x89abcdef, text), 8));
	cr_expect_str_eq(text, "89abcdef");
	cr_expect(eq(sz, eddyi_u64_format_hex(UINT64_MAX, text), 16));
	cr_expect_str_eq(text, "ffffffffffffffff");
	*eddyi_hex_format("\x00\x9a\xff", 3, text) = 0;
	cr_expect_str_eq(text, "009aff");
}

Test(text, percent_escapes)
{
	char text[4] = "", bytes[40];

	for (int byte = 0; byte < 256; byte++) {
		cr_assert(eq(ptr, eddyi_percent_put(text, (char)byte), text + 3));
		cr_expect(eq(int, eddyi_percent_at(eddy_str(text, 3), 0), byte), "%s", text);
	}
	cr_expect_str_eq(text, "%FF");
	*eddyi_percent_encode(bytes, EDDY_STR("aZ09-\0@[`{%\xff"), "-%") = 0;
	cr_expect_str_eq(bytes, "aZ09-%00%40%5B%60%7B%%FF");
	cr_expect(eq(int, eddyi_percent_at(EDDY_STR("a%2fb"), 1), '/'));
	cr_expect(eq(int, eddyi_percent_at(EDDY_STR("a%2fb"), 0), -1));
	cr_expect(eq(int, eddyi_percent_at(EDDY_STR("a%2"), 1), -1));
	cr_expect(eq(int, eddyi_percent_at(EDDY_STR("%2g"), 0), -1));
	cr_expect(eq(int, eddyi_percent_at(EDDY_STR("%2f"), 3), -1));
}

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
	{ 100, "100" },
	{ 0.0001, "0.0001" },
	{ 0.00009, "9e-05" },
	{ 0.000123456789012345, "0.000123456789012345" },
	{ 999999999999998, "999999999999998" },
	{ 999999999999999, "999999999999999" },
	{ 1e15, "1e+15" },
	{ 123456789012345.6, "123456789012345.6" },
	{ 9007199254740993, "9007199254740992" },
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

Test(text, doubles_have_as_few_digits_as_they_need)
{
	expect_rows();
}

Test(text, doubles_know_no_locale)
{
	if (!switch_to_comma())
		cr_skip_test("needs localedef(1)");
	cr_assert_str_eq(localeconv()->decimal_point, ",");
	expect_rows();
}

Test(text, doubles_are_read_in_any_locale)
{
	char *end;

	for (int i = 0; i < 2; i++) {
		cr_expect(eddyi_f64_parse("-1.25e3,", &end) == -1250 && *end == ',');
		if (!switch_to_comma())
			cr_skip_test("needs localedef(1)");
	}
}

Test(text, signed_numbers)
{
	char text[EDDYI_I64_SIZE];

	cr_expect(eq(sz, eddyi_i64_format(INT64_MIN, text), 20));
	cr_expect_str_eq(text, "-9223372036854775808");
	cr_expect(eq(sz, eddyi_i64_format(-7, text), 2));
	cr_expect_str_eq(text, "-7");
	cr_expect(eq(sz, eddyi_i64_format(INT64_MAX, text), 19));
	cr_expect_str_eq(text, "9223372036854775807");
}
