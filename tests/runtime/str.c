/* Tests of numbers in eddy/str.h. */
#include "../comma.h"

#include <eddy/str.h>
#include <float.h>
#include <math.h>
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
	char text[EDDY_F64_SIZE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(eddy_f64_format(rows[i].value, text), strlen(rows[i].text));
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
