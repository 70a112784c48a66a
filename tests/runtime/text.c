/* Tests of eddy/internal/text.h: text in a buffer of fixed size. */
#include <criterion/criterion.h>
#include <eddy/internal/text.h>

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
	cr_expect(!text.full);
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
	cr_expect(!text.full);
	eddyi_text_some(&text, EDDY_STR("e"));
	cr_expect(text.full);
	cr_expect_str_eq(buffer, "abcd");
}

Test(text, json_strings_are_escaped)
{
	struct eddyi_text text = begin(sizeof(buffer));

	eddyi_text_json_str(&text, EDDY_STR("a\"\\\n\x01\x7f\xc3\xa4\xff"));
	cr_expect_str_eq(buffer, "\"a\\\"\\\\\\n\\u0001\\u007f\xc3\xa4\\ufffd\"");
	cr_expect(!text.full);
}

/* From five bytes on the text is a JSON string, and no byte after it is written. */
Test(text, json_strings_are_cut_between_characters)
{
	static const char *const wanted[] = {
		"",
		"\"",
		"\"",
		"\"",
		"\"",
		"\"…\"",
		"\"a…\"",
		"\"a…\"",
		"\"a\xc3\xa4…\"",
		"\"a\xc3\xa4…\"",
		"\"a\xc3\xa4\\n…\"",
		"\"a\xc3\xa4\\n…\"",
	};

	for (size_t size = 0; size < sizeof(wanted) / sizeof(wanted[0]); size++) {
		struct eddyi_text text = begin(size);

		eddyi_text_json_str(&text, EDDY_STR("a\xc3\xa4\n\x01\x01\x01\x01"));
		cr_expect(text.full && text.end == buffer + size);
		cr_expect_str_eq(buffer, wanted[size], "%zu: %s", size, buffer);
		cr_expect(!buffer[size]);
	}
}
