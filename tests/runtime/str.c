/* Tests of eddy/str.h. */
#include <criterion/criterion.h>
#include <eddy/str.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
