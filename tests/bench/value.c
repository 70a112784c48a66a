#include "value.h"

#include <criterion/criterion.h>

Test(value, sizes_have_units)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = {
		{ "0", 0 },          { "4096", 4096 },    { "4K", 4096 },
		{ "64m", 64 << 20 }, { "1GiB", 1 << 30 }, { "2kib", 2048 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t bytes = 7;

		cr_expect(value_size(cases[i].text, &bytes), "%s", cases[i].text);
		cr_expect_eq(bytes, cases[i].bytes, "%s", cases[i].text);
	}
}

Test(value, what_is_no_size_leaves_all_as_it_was)
{
	static const char *const cases[] = { "",
					     " 1",
					     "-1",
					     "+1",
					     "4X",
					     "4K ",
					     "4.5K",
					     "4KiBs",
					     "17592186044417",
					     "16385G",
					     "99999999999999999999",
					     "0x10" };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t bytes = 7;

		cr_expect_not(value_size(cases[i], &bytes), "%s", cases[i]);
		cr_expect_eq(bytes, 7, "%s", cases[i]);
	}
}

Test(value, times_have_units)
{
	static const char *const wrong[] = { "",      "-1",    "nan", "inf", "0x1", "1h",
					     "1e999", "86401", "1s ", "1 s", "1sm" };
	double seconds = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_expect_not(value_seconds(wrong[i], &seconds), "%s", wrong[i]);
	cr_expect_eq(seconds, 7);
	cr_expect(value_seconds("0.25", &seconds) && seconds == 0.25);
	cr_expect(value_seconds("2s", &seconds) && seconds == 2);
	cr_expect(value_seconds("500ms", &seconds) && seconds == 0.5);
	cr_expect(value_seconds("86400000ms", &seconds) && seconds == 86400);
}

Test(value, numbers_have_bounds)
{
	double number = 7;
	unsigned count = 7;

	cr_expect_not(value_number("0.5", 1, 2, &number));
	cr_expect_not(value_number("2.5", 1, 2, &number));
	cr_expect_not(value_number("1.5x", 1, 2, &number));
	cr_expect_eq(number, 7);
	cr_expect(value_number("1.5", 1, 2, &number) && number == 1.5);
	cr_expect_not(value_count("0", 1, 9, &count));
	cr_expect_not(value_count("10", 1, 9, &count));
	cr_expect_not(value_count("1.5", 1, 9, &count));
	cr_expect_eq(count, 7);
	cr_expect(value_count("9", 1, 9, &count) && count == 9);
}

Test(value, lists_have_nothing_twice)
{
	static const char *const wrong[] = { "",    ",",       "1,",      ",1", "1,,2",
					     "1,1", "1K,1024", "1,2,3,4", "1,x" };
	uint64_t sizes[3];
	unsigned counts[3];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_expect_eq(value_sizes(wrong[i], sizes, 3), 0, "%s", wrong[i]);
		cr_expect_eq(value_counts(wrong[i], 5000, counts, 3), 0, "%s", wrong[i]);
	}
	cr_expect_eq(value_sizes("0,1K,2", sizes, 3), 3);
	cr_expect_eq(sizes[1], 1024);
	cr_expect_eq(value_counts("0,1", 9, counts, 3), 0);
	cr_expect_eq(value_counts("10", 9, counts, 3), 0);
	cr_expect_eq(value_counts("4294967297", 9, counts, 3), 0);
	cr_expect_eq(value_counts("9,1", 9, counts, 3), 2);
	cr_expect_eq(counts[0], 9);
}

Test(value, fields_are_of_one_line)
{
	cr_expect(value_is_header("X: y"));
	cr_expect(value_is_header("X:"));
	cr_expect(value_is_header("X:\ty"));
	cr_expect_not(value_is_header(": y"));
	cr_expect_not(value_is_header("X y: z"));
	cr_expect_not(value_is_header("X"));
	cr_expect_not(value_is_header("X: y\r\nZ: w"));
	cr_expect_not(value_is_header("X: \x7f"));
}
