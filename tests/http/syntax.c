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
