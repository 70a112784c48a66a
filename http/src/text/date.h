/* date.h: HTTP dates (RFC 9110 section 5.6.7), independent of locale and time zone. */
#ifndef EDDYI_DATE_H
#define EDDYI_DATE_H

#include <eddy/str.h>
#include <time.h>

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
#define EDDYI_DATE_LEN 29

/* Format `when` as IMF-fixdate with a NUL. Times outside the years 0 to 9999 become the nearest one
 * inside. Return: `buffer` as a string. */
struct eddy_str eddyi_date_format(time_t when, char buffer[EDDYI_DATE_LEN + 1]);

/* Parse a date in one of three formats: IMF-fixdate, RFC 850, and asctime(). Letter case and blanks
 * must match the grammar, and the date must exist; the day of the week must be valid, but may be
 * wrong. A leap second (:60) is the following second. A two-digit year is the latest one that is
 * not more than 50 years after `now`. Return: 0, -EINVAL. */
int eddyi_date_parse(struct eddy_str text, time_t now, time_t *ret_when);

#endif
