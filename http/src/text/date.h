/* date.h: the dates of HTTP (RFC 9110 section 5.6.7), without locale or time zone. */
#ifndef EDDYI_DATE_H
#define EDDYI_DATE_H

#include <eddy/str.h>
#include <time.h>

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
#define EDDYI_DATE_LEN 29

/* Write `when` as IMF-fixdate; a NUL follows. What lies outside the years 0 to 9999 is written as
 * the nearest date within. Return: `buffer` as a string. */
struct eddy_str eddyi_date_format(time_t when, char buffer[EDDYI_DATE_LEN + 1]);

/* Parse a date in any of the three forms: IMF-fixdate, that of RFC 850, and that of asctime().
 * Letter case and blanks must be exactly those of the grammar, and the day must exist; the day of
 * the week must be one, but nobody checks that it is the right one. A leap second (:60) is the
 * second that follows. A two-digit year is the one nearest to `now` that is not more than 50 years
 * ahead of it. Return: 0, -EINVAL. */
int eddyi_date_parse(struct eddy_str text, time_t now, time_t *ret_when);

#endif
