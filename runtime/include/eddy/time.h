/* eddy/time.h: points in time of the calendar, as text of RFC 3339 section 5.6. eddy_to_parse() reads
 * them: "2026-01-31T12:00:00.5Z", "2026-01-31 14:00:00+02". Digits after the ninth of a second are
 * ignored. */
#ifndef EDDY_TIME_H
#define EDDY_TIME_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* A point in time: nanoseconds since 1970-01-01T00:00:00Z, without leap seconds; from the year 1678
 * to 2262. */
struct eddy_time {
	int64_t ns;
};

/* Get the current time. Never suspends. */
EDDY_API struct eddy_time eddy_time_now(void);

/* Format a time in UTC, with a NUL, and as many digits of a second as it has: none, three, six or
 * nine. Return: its length. */
#define EDDY_TIME_SIZE 31
EDDY_API size_t eddy_time_format(struct eddy_time time, char text[EDDY_TIME_SIZE]);

EDDY_END_DECLS

#endif
