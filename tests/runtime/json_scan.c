/* Tests of the tokens of JSON. json_read.c has those of whole texts. */
#include "data/json_scan.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>

static char why[EDDY_WHY_SIZE];

static struct eddyi_json_scan begin(const char *text)
{
	return (struct eddyi_json_scan){
		.begin = text,
		.at = text,
		.end = text + strlen(text),
		.values_left = 100,
		.depth_max = 2,
		.why = why,
	};
}

Test(json_scan, strings)
{
	struct eddyi_json_scan scan = begin("\"a\\u00e4\\ud83d\\ude00\\/\\t\" \"b\" : 1");
	struct eddy_str raw;
	char text[32];
	bool is_escaped;

	cr_assert(eq(int, eddyi_json_scan_str(&scan, &raw, &is_escaped), 0));
	cr_expect(is_escaped);
	cr_expect(eddy_str_eq_z(eddy_str(text, eddyi_json_scan_unescape(&scan, raw, text)),
				"a\xc3\xa4\xf0\x9f\x98\x80/\t"));
	cr_assert(eq(int, eddyi_json_scan_name(&scan, &raw, &is_escaped), 0));
	cr_expect(eddy_str_eq_z(raw, "b") && !is_escaped);
	cr_expect(eq(chr, eddyi_json_scan_next(&scan), '1'));
	cr_expect(eq(int, eddyi_json_scan_name(&scan, &raw, &is_escaped), -EBADMSG));
	cr_expect_str_eq(why, "line 1, column 33: the name of a member is expected");
}

Test(json_scan, numbers)
{
	static const struct {
		const char *text;
		uint64_t digits;
		int exponent;
		bool is_real, is_long;
		double value;
	} rows[] = {
		{ "0", 0, 0, false, false, 0 },
		{ "-12", 12, 0, false, false, -12 },
		{ "18446744073709551615", UINT64_MAX, 0, false, false, 0x1p64 },
		{ "18446744073709551616", 0, 0, false, true, 0x1p64 },
		{ "1.25e-3", 125, -5, true, false, 0.00125 },
		{ "1E+2", 1, 2, true, false, 100 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct eddyi_json_scan scan = begin(rows[i].text);
		struct eddyi_json_number number;
		double value = 0;

		cr_assert(eq(int, eddyi_json_scan_number(&scan, &number), 0), "%s", rows[i].text);
		cr_expect(scan.at == scan.end);
		cr_expect(number.is_negative == (*rows[i].text == '-'));
		cr_expect(number.is_real == rows[i].is_real);
		cr_expect(number.is_long == rows[i].is_long);
		cr_expect(rows[i].is_long || number.digits == rows[i].digits, "%s", rows[i].text);
		cr_expect(eq(int, number.exponent, rows[i].exponent));
		cr_expect(eq(int, eddyi_json_scan_double(&number, &value), 0));
		cr_expect(value == rows[i].value, "%s: %a", rows[i].text, value);
	}
}

Test(json_scan, numbers_that_are_no_double)
{
	struct eddyi_json_scan scan = begin("1e309 0.");
	struct eddyi_json_number number;
	double value;

	cr_assert(eq(int, eddyi_json_scan_number(&scan, &number), 0));
	cr_expect(eq(int, eddyi_json_scan_double(&number, &value), -ERANGE));
	eddyi_json_scan_space(&scan);
	cr_expect(eq(int, eddyi_json_scan_number(&scan, &number), -EBADMSG));
	cr_expect_str_eq(why, "line 1, column 9: a digit is expected");
}

Test(json_scan, skipped_values)
{
	struct eddyi_json_scan scan = begin("[{\"a\":null}, -1, \"\"] [[[]]]");

	cr_assert(eq(int, eddyi_json_scan_skip(&scan), 0));
	cr_expect(eq(sz, scan.values_left, 95));
	cr_expect(eq(uint, scan.depth, 0));
	cr_expect(eq(int, eddyi_json_scan_skip(&scan), -EBADMSG));
	cr_expect_str_eq(why, "line 1, column 24: arrays and objects are nested more than 2 deep");
	scan = begin("[1,2]");
	scan.values_left = 2;
	cr_expect(eq(int, eddyi_json_scan_skip(&scan), -EMSGSIZE));
}
