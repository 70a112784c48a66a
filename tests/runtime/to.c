/* Tests of eddy/to.h. */
#include <eddy/to.h>

#include "../comma.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#define PARSE(type, text, want, value)                                                             \
	do {                                                                                       \
		type parsed = 7;                                                                   \
		cr_expect(eq(int, eddy_to_parse(EDDY_TO(&parsed), eddy_str_from(text)), want),     \
			  #type " %s", text);                                                      \
		cr_expect(parsed == ((want) ? 7 : (value)), #type " %s", text);                    \
	} while (0)

Test(to, integers)
{
	PARSE(int8_t, "127", 0, 127);
	PARSE(int8_t, "-128", 0, -128);
	PARSE(int8_t, "128", -ERANGE, 0);
	PARSE(int8_t, "-129", -ERANGE, 0);
	PARSE(uint8_t, "255", 0, 255);
	PARSE(uint8_t, "256", -ERANGE, 0);
	PARSE(uint8_t, "-1", -EINVAL, 0);
	PARSE(int16_t, "-32768", 0, -32768);
	PARSE(uint16_t, "65536", -ERANGE, 0);
	PARSE(int32_t, "-2147483648", 0, INT32_MIN);
	PARSE(int32_t, "2147483648", -ERANGE, 0);
	PARSE(uint32_t, "4294967295", 0, UINT32_MAX);
	PARSE(int64_t, "-9223372036854775808", 0, INT64_MIN);
	PARSE(int64_t, "9223372036854775807", 0, INT64_MAX);
	PARSE(int64_t, "9223372036854775808", -ERANGE, 0);
	PARSE(uint64_t, "18446744073709551615", 0, UINT64_MAX);
	PARSE(uint64_t, "18446744073709551616", -ERANGE, 0);
	PARSE(uint64_t, "-18446744073709551616", -EINVAL, 0);
	PARSE(int64_t, "-18446744073709551616", -ERANGE, 0);
	PARSE(long long, "-5", 0, -5);
	PARSE(unsigned long long, "5", 0, 5);
	PARSE(int32_t, "-0", 0, 0);
	PARSE(int32_t, "007", 0, 7);
}

Test(to, not_integers)
{
	static const char *const bad[] = { "",    "-",   "+1",  " 1",  "1 ",
					   "1.0", "0x1", "1e3", "--1", "a" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		PARSE(int32_t, bad[i], -EINVAL, 0);
		PARSE(uint64_t, bad[i], -EINVAL, 0);
	}
}

Test(to, others)
{
	struct eddy_str str = { NULL, 0 };
	bool flag = false;

	PARSE(double, "1.5", 0, 1.5);
	PARSE(double, "-2e3", 0, -2000);
	PARSE(double, "", -EINVAL, 0);
	PARSE(double, "0x10", -EINVAL, 0);
	PARSE(double, "inf", -EINVAL, 0);
	PARSE(double, "nan", -EINVAL, 0);
	PARSE(double, "1e999", -ERANGE, 0);
	PARSE(double, "1.5x", -EINVAL, 0);
	PARSE(double, "-", -EINVAL, 0);
	PARSE(double, ".", -EINVAL, 0);
	PARSE(double, "1.2.3", -EINVAL, 0);
	PARSE(double, "-0.1", 0, -0.1);
	PARSE(double, ".5", 0, 0.5);
	PARSE(double, "5.", 0, 5);
	PARSE(double, "123456789.012345", 0, 123456789.012345);
	PARSE(double, "9007199254740993", 0, 9007199254740993.0);
	PARSE(double, "0.00000000000000000001", 0, 1e-20);
	cr_expect(eq(int, eddy_to_parse(EDDY_TO(&flag), eddy_str_from("true")), 0));
	cr_expect(flag);
	cr_expect(eq(int, eddy_to_parse(EDDY_TO(&flag), eddy_str_from("1")), -EINVAL));
	cr_expect(flag);
	cr_expect(eq(int, eddy_to_parse(EDDY_TO(&flag), eddy_str_from("false")), 0));
	cr_expect(not(flag));
	cr_expect(eq(int, eddy_to_parse(EDDY_TO(&str), eddy_str_from("any")), 0));
	cr_expect(eddy_str_eq_z(str, "any"));
}

/* Whatever the program's locale has for the point. */
Test(to, reals_in_other_locales)
{
	if (!switch_to_comma())
		cr_skip_test("needs localedef(1)");
	cr_assert_str_eq(localeconv()->decimal_point, ",");
	PARSE(double, "1.5", 0, 1.5);
}
