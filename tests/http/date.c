/* Tests of http/src/text/date.h. */
#include "text/date.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NOW 1763700000 /* 21 November 2025 */

static int parse_at(const char *text, time_t now, time_t *ret_when)
{
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);
	int err;

	memcpy(exact, text, len);
	err = eddyi_date_parse(eddy_str(exact, len), now, ret_when);
	free(exact);
	return err;
}

Test(date, formats)
{
	/* clang-format off */
	static const struct {
		int64_t when;
		const char *want;
	} cases[] = {
		{ 0, "Thu, 01 Jan 1970 00:00:00 GMT" },
		{ -1, "Wed, 31 Dec 1969 23:59:59 GMT" },
		{ 784111777, "Sun, 06 Nov 1994 08:49:37 GMT" },
		{ 951782400, "Tue, 29 Feb 2000 00:00:00 GMT" },
		{ 951868800, "Wed, 01 Mar 2000 00:00:00 GMT" },
		{ 1709164800, "Thu, 29 Feb 2024 00:00:00 GMT" },
		{ 2147483647, "Tue, 19 Jan 2038 03:14:07 GMT" },
		{ 2147483648, "Tue, 19 Jan 2038 03:14:08 GMT" },
		{ 4107542399, "Sun, 28 Feb 2100 23:59:59 GMT" },
		{ 4107542400, "Mon, 01 Mar 2100 00:00:00 GMT" },
		{ INT64_C(253402300799), "Fri, 31 Dec 9999 23:59:59 GMT" },
		{ INT64_C(253402300800), "Fri, 31 Dec 9999 23:59:59 GMT" },
		{ INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT" },
		{ INT64_C(-62167219200), "Sat, 01 Jan 0000 00:00:00 GMT" },
		{ INT64_MIN, "Sat, 01 Jan 0000 00:00:00 GMT" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char buffer[EDDYI_DATE_LEN + 1];

		cr_expect(eq(sz, eddyi_date_format(cases[i].when, buffer).len, EDDYI_DATE_LEN));
		cr_expect_str_eq(buffer, cases[i].want);
	}
}

/* The C library is the judge, over all of the calendar and back again. */
Test(date, agrees_with_libc)
{
	for (int64_t when = INT64_C(-62167219200); when < INT64_C(253402300800);
	     when += INT64_C(7654321)) {
		char buffer[EDDYI_DATE_LEN + 1], want[64], year[24];
		time_t back, t = when;
		struct tm tm;

		gmtime_r(&t, &tm);
		snprintf(year, sizeof(year), "%04d", tm.tm_year + 1900);
		strftime(want, sizeof(want), "%a, %d %b ", &tm);
		strcat(want, year);
		strftime(want + strlen(want), 32, " %H:%M:%S GMT", &tm);
		eddyi_date_format(t, buffer);
		cr_assert_str_eq(buffer, want);
		cr_assert(eq(int, parse_at(buffer, NOW, &back), 0), "%s", buffer);
		cr_assert(eq(i64, back, when), "%s", buffer);
	}
}

Test(date, parses)
{
	/* clang-format off */
	static const struct {
		const char *text;
		int64_t want; /* -1: EINVAL */
	} cases[] = {
		{ "Sun, 06 Nov 1994 08:49:37 GMT", 784111777 },
		{ "Sunday, 06-Nov-94 08:49:37 GMT", 784111777 },
		{ "Sun Nov  6 08:49:37 1994", 784111777 },
		{ "Wed Nov 16 08:49:37 1994", 784975777 },
		{ "Wed, 06 Nov 1994 08:49:37 GMT", 784111777 }, /* the wrong day of the week */
		{ "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
		{ "Tue, 29 Feb 2000 00:00:00 GMT", 951782400 },
		{ "Sat, 31 Dec 2016 23:59:60 GMT", 1483228800 },
		{ "Mon, 29 Feb 1900 00:00:00 GMT", -1 },
		{ "Tue, 29 Feb 2023 00:00:00 GMT", -1 },
		{ "Sun, 31 Apr 2023 00:00:00 GMT", -1 },
		{ "Sun, 00 Apr 2023 00:00:00 GMT", -1 },
		{ "Sun, 32 Jan 2023 00:00:00 GMT", -1 },
		{ "Sun, 06 Nov 1994 24:00:00 GMT", -1 },
		{ "Sun, 06 Nov 1994 08:60:00 GMT", -1 },
		{ "Sun, 06 Nov 1994 08:49:61 GMT", -1 },
		{ "", -1 },
		{ "0", -1 },
		{ "784111777", -1 },
		{ "Sun", -1 },
		{ "Sunday", -1 },
		{ "Sun,", -1 },
		{ "Sun, 06 Nov 1994 08:49:37", -1 },
		{ "Sun, 06 Nov 1994 08:49:37 ", -1 },
		{ "Sun, 06 Nov 1994 08:49:37 UTC", -1 },
		{ "Sun, 06 Nov 1994 08:49:37 +0000", -1 },
		{ "Sun, 06 Nov 1994 08:49:37 gmt", -1 },
		{ "Sun, 06 Nov 1994 08:49:37 GMT ", -1 },
		{ "Sun, 06 Nov 1994 08:49:37 GMTx", -1 },
		{ " Sun, 06 Nov 1994 08:49:37 GMT", -1 },
		{ "sun, 06 Nov 1994 08:49:37 GMT", -1 },
		{ "Sun, 06 nov 1994 08:49:37 GMT", -1 },
		{ "Sun,06 Nov 1994 08:49:37 GMT", -1 },
		{ "Sun,  6 Nov 1994 08:49:37 GMT", -1 },
		{ "Sun, 6 Nov 1994 08:49:37 GMT", -1 },
		{ "Sun, 06  Nov 1994 08:49:37 GMT", -1 },
		{ "Sun, 06 Nov 94 08:49:37 GMT", -1 },
		{ "Sun, 06 Nov 11994 08:49:37 GMT", -1 },
		{ "Sun, 06 Nov 1994 8:49:37 GMT", -1 },
		{ "Sun, 06 Nov 1994 08:49 GMT", -1 },
		{ "Sun, 06-Nov-1994 08:49:37 GMT", -1 },
		{ "Sunday, 06-Nov-1994 08:49:37 GMT", -1 },
		{ "Sunday, 06 Nov 1994 08:49:37 GMT", -1 },
		{ "Sun Nov 6 08:49:37 1994", -1 },
		{ "Sun Nov 06 08:49:37 1994", 784111777 },
		{ "Sun Nov  6 08:49:37 94", -1 },
		{ "Sun Nov  6 08:49:37 1994\n", -1 },
		{ "Sun Nov  6 08:49:37 1994 GMT", -1 },
		{ "Xyz, 06 Nov 1994 08:49:37 GMT", -1 },
		{ "Sun, 06 Xyz 1994 08:49:37 GMT", -1 },
		{ "Sun, +6 Nov 1994 08:49:37 GMT", -1 },
		{ "Sun, 06 Nov 1994 -8:49:37 GMT", -1 },
		{ "1994-11-06T08:49:37Z", -1 },
		{ "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", -1 },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		time_t when = -1;

		cr_expect(eq(int, parse_at(cases[i].text, NOW, &when),
			     cases[i].want == -1 ? -EINVAL : 0),
			  "\"%s\"", cases[i].text);
		cr_expect(eq(i64, when, cases[i].want), "\"%s\"", cases[i].text);
	}
}

/* RFC 9110: what appears to be more than 50 years in the future is of the past. */
Test(date, two_digit_years)
{
	/* clang-format off */
	static const struct {
		const char *now, *text, *want;
	} cases[] = {
		{ "Fri, 21 Nov 2025 00:00:00 GMT", "Friday, 21-Nov-25 00:00:00 GMT", "Fri, 21 Nov 2025 00:00:00 GMT" },
		{ "Fri, 21 Nov 2025 00:00:00 GMT", "Thursday, 21-Nov-74 00:00:00 GMT", "Wed, 21 Nov 2074 00:00:00 GMT" },
		{ "Fri, 21 Nov 2025 00:00:00 GMT", "Thursday, 21-Nov-75 00:00:00 GMT", "Thu, 21 Nov 2075 00:00:00 GMT" },
		{ "Fri, 21 Nov 2025 00:00:00 GMT", "Friday, 21-Nov-75 00:00:01 GMT", "Fri, 21 Nov 1975 00:00:01 GMT" },
		{ "Fri, 21 Nov 2025 12:00:00 GMT", "Thursday, 21-Nov-75 12:00:00 GMT", "Thu, 21 Nov 2075 12:00:00 GMT" },
		{ "Fri, 21 Nov 2025 00:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT" },
		{ "Fri, 21 Nov 2025 00:00:00 GMT", "Friday, 31-Dec-99 00:00:00 GMT", "Fri, 31 Dec 1999 00:00:00 GMT" },
		{ "Fri, 21 Nov 2025 00:00:00 GMT", "Saturday, 01-Jan-00 00:00:00 GMT", "Sat, 01 Jan 2000 00:00:00 GMT" },
		{ "Sat, 01 Jun 1985 00:00:00 GMT", "Friday, 01-Jun-34 00:00:00 GMT", "Thu, 01 Jun 2034 00:00:00 GMT" },
		{ "Sat, 01 Jun 1985 00:00:00 GMT", "Friday, 01-Jun-36 00:00:00 GMT", "Mon, 01 Jun 1936 00:00:00 GMT" },
		{ "Mon, 01 Jun 2099 00:00:00 GMT", "Friday, 01-Jun-01 00:00:00 GMT", "Wed, 01 Jun 2101 00:00:00 GMT" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char buffer[EDDYI_DATE_LEN + 1];
		time_t now, when;

		cr_assert(eq(int, parse_at(cases[i].now, 0, &now), 0));
		cr_assert(eq(int, parse_at(cases[i].text, now, &when), 0), "%s", cases[i].text);
		eddyi_date_format(when, buffer);
		cr_expect_str_eq(buffer, cases[i].want);
	}
}

/* Every prefix and every changed byte of a good date is read without harm. */
Test(date, mutations)
{
	static const char *const dates[] = { "Sun, 06 Nov 1994 08:49:37 GMT",
					     "Wednesday, 06-Nov-94 08:49:37 GMT",
					     "Sun Nov  6 08:49:37 1994" };

	for (size_t d = 0; d < 3; d++) {
		size_t len = strlen(dates[d]);
		char text[64];
		time_t when;

		strcpy(text, dates[d]);
		for (size_t i = 0; i < len; i++) {
			text[i] = 0;
			cr_expect(eq(int, parse_at(text, NOW, &when), -EINVAL), "%s", text);
			for (int c = 1; c < 256; c++) {
				text[i] = (char)c;
				parse_at(text, NOW, &when);
			}
			text[i] = dates[d][i];
		}
	}
}
