/* Tests of http/src/text/utf8.h. */
#include "text/utf8.h"

#include <criterion/criterion.h>
#include <eddy/internal/text.h>
#include <stdlib.h>
#include <string.h>

/* Whether a text is valid and whole, if it arrives in pieces of this size. */
static bool check(struct eddy_str text, size_t piece)
{
	struct eddyi_utf8 utf8 = { 0 };

	while (text.len) {
		size_t len = text.len < piece ? text.len : piece;

		if (!eddyi_utf8_check(&utf8, eddy_str(text.ptr, len)))
			return false;
		text = eddy_str_skip(text, len);
	}
	return eddyi_utf8_is_whole(&utf8);
}

Test(utf8, is_checked_as_it_arrives)
{
	static const struct {
		const char *text;
		bool valid;
	} cases[] = {
		{ "", true },
		{ "plain", true },
		{ "κόσμε \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf \xed\x9f\xbf \xee\x80\x80", true },
		{ "sixty-four bytes of ASCII come first, and are checked at once: \xc3\xa9, and "
		  "then more than sixty-four, of which none is checked by itself: \xe2\x82\xac",
		  true },
		{ "sixty-four bytes of ASCII come first, and are checked at once: \xc3", false },
		{ "sixty-four bytes of ASCII come first, and are checked at once:: \xa9", false },
		{ "\x80", false },
		{ "\xc0\x80", false },
		{ "\xc1\xbf", false },
		{ "\xe0\x9f\xbf", false },
		{ "\xed\xa0\x80", false },
		{ "\xf0\x8f\xbf\xbf", false },
		{ "\xf4\x90\x80\x80", false },
		{ "\xf5\x80\x80\x80", false },
		{ "\xff", false },
		{ "\xe2\x82", false },
		{ "\xe2\x28\xa1", false },
		{ "\xc3\xa9\xa9", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t piece = 1; piece < 100; piece++)
			cr_expect_eq(check(eddy_str_from(cases[i].text), piece), cases[i].valid,
				     "%zu in pieces of %zu", i, piece);
}

Test(utf8, fails_with_the_first_wrong_byte)
{
	struct eddyi_utf8 utf8 = { 0 };

	cr_expect(eddyi_utf8_check(&utf8, EDDY_STR("\xf4")));
	cr_expect_not(eddyi_utf8_check(&utf8, EDDY_STR("\x90")));
}

/* All texts of up to three bytes, and random ones, half of them mostly of ASCII, against the
 * runtime's function. */
Test(utf8, agrees_with_the_runtime)
{
	char text[200];

	for (unsigned i = 0; i < 1u << 24; i += i < 1u << 16 ? 1 : 7) {
		text[0] = (char)(i >> 16);
		text[1] = (char)(i >> 8);
		text[2] = (char)i;
		cr_assert_eq(check(eddy_str(text, 3), 3), eddyi_str_is_utf8(eddy_str(text, 3)),
			     "%06x", i);
	}
	srand(1);
	for (int n = 0; n < 100000; n++) {
		size_t len = (size_t)rand() % sizeof(text), rare = n % 2 ? 1 : 60;

		for (size_t i = 0; i < len; i++)
			text[i] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xed\xf4"
				[(size_t)rand() % rare ? 0 : rand() % 13];
		cr_assert_eq(check(eddy_str(text, len), 1 + (size_t)rand() % sizeof(text)),
			     eddyi_str_is_utf8(eddy_str(text, len)));
	}
}
