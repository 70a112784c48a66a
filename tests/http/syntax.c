/* Tests of http/src/text/syntax.h. */
#include "text/syntax.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>

Test(syntax, tokens)
{
	for (int c = 0; c < 256; c++) {
		bool want = c && strchr("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
					c);

		cr_expect(eq(int, eddyi_syntax_is_tchar((char)c), want), "%#x", c);
	}
	cr_expect(eddyi_syntax_is_token(eddy_str_from("a!b")));
	cr_expect(not(eddyi_syntax_is_token(eddy_str_from(""))));
	cr_expect(not(eddyi_syntax_is_token(eddy_str_from("a b"))));
}

Test(syntax, hex_and_escapes)
{
	/* clang-format off */
	static const struct {
		const char *text, *want; /* NULL: EINVAL */
	} cases[] = {
		{ "", "" }, { "abc", "abc" }, { "%41%4a%4A", "AJJ" }, { "%25%32%35", "%25" },
		{ "%", NULL }, { "%4", NULL }, { "%zz", NULL }, { "%4z", NULL }, { "%z4", NULL },
		{ "a%", NULL }, { "%%41", NULL }, { "% 4", NULL }, { "%+4", NULL }, { "%41%", NULL },
	};
	/* clang-format on */

	for (int c = 0; c < 256; c++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF";
		const char *at = c ? strchr(digits, c) : NULL;

		cr_expect(eq(int, eddyi_syntax_hex((char)c), at ? (int)(at - digits) % 16 : -1));
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char buffer[32];
		ssize_t len;

		strcpy(buffer, cases[i].text);
		len = eddyi_syntax_unescape(eddy_str_from(buffer), buffer); /* in place */
		if (!cases[i].want) {
			cr_expect(eq(i64, len, -EINVAL), "%s", cases[i].text);
			continue;
		}
		cr_assert(ge(i64, len, 0), "%s", cases[i].text);
		cr_expect(eddy_str_eq_z(eddy_str(buffer, (size_t)len), cases[i].want), "%s",
			  cases[i].text);
	}
}

/* All of Unicode, encoded by the book, and all that the book forbids. */
Test(syntax, utf8)
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
		cr_assert(eq(int, eddyi_syntax_is_utf8(eddy_str(text, len)), c<0xd800 || c> 0xdfff),
			  "U+%X", c);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect(not(eddyi_syntax_is_utf8(eddy_str_from(bad[i]))), "%zu", i);
	cr_expect(eddyi_syntax_is_utf8(eddy_str_from("")));
}

Test(syntax, quoted)
{
	/* clang-format off */
	static const struct {
		const char *text, *inner, *rest; /* inner NULL: refused */
	} cases[] = {
		{ "\"a\"b", "a", "b" }, { "\"\"", "", "" }, { "\"a\\\"b\" ", "a\\\"b", " " },
		{ "\"\\\\\"", "\\\\", "" }, { "\"\t\xff\"", "\t\xff", "" }, { "\"\\a\"", "\\a", "" },
		{ "", NULL, "" }, { "a", NULL, "a" }, { "\"", NULL, "\"" }, { "\"a", NULL, "\"a" },
		{ "\"\\\"", NULL, "\"\\\"" }, { "\"\\", NULL, "\"\\" }, { "\"\n\"", NULL, "\"\n\"" },
		{ "\"\\\n\"", NULL, "\"\\\n\"" }, { "\"\x7f\"", NULL, "\"\x7f\"" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct eddy_str rest = eddy_str_from(cases[i].text), inner;
		bool taken = eddyi_syntax_take_quoted(&rest, &inner);

		cr_expect(eq(int, taken, cases[i].inner != NULL), "%s", cases[i].text);
		cr_expect(eddy_str_eq_z(rest, cases[i].rest), "%s", cases[i].text);
		if (taken)
			cr_expect(eddy_str_eq_z(inner, cases[i].inner), "%s", cases[i].text);
	}
}

Test(syntax, members)
{
	/* clang-format off */
	static const struct {
		const char *list, *want; /* each member in brackets */
	} cases[] = {
		{ "", "" }, { ",", "" }, { " , ,\t", "" }, { "a", "[a]" }, { " a ,b,, c ,", "[a][b][c]" },
		{ "a b, c", "[a b][c]" }, { "\"a,b\",c", "[\"a,b\"][c]" }, { "x=\"a\\\",b\", c", "[x=\"a\\\",b\"][c]" },
		{ "\"a,b", "[\"a,b]" }, { "\"a\\", "[\"a\\]" }, { ",a", "[a]" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct eddy_str rest = eddy_str_from(cases[i].list), member;
		char out[128] = "";

		while (eddyi_syntax_take_member(&rest, &member))
			sprintf(out + strlen(out), "[%.*s]", EDDY_FMT(member));
		cr_expect_str_eq(out, cases[i].want, "%s", cases[i].list);
	}
}
