/* eddy/internal/log.h: parts of log records; for eddy's own layers. */
#ifndef EDDY_INTERNAL_LOG_H
#define EDDY_INTERNAL_LOG_H

#include <eddy/log.h>

EDDY_BEGIN_DECLS

/* Check whether to colour text written to `fd`: it is a terminal, TERM is not "dumb", and NO_COLOR
 * is unset or empty. */
EDDY_API bool eddyi_log_wants_colour(int fd);

/* Format the time of a record, "2026-11-22T08:05:03.586387Z", with a NUL. */
#define EDDYI_LOG_TIME_SIZE 28
EDDY_API void eddyi_log_format_time(uint64_t time_ns, char text[EDDYI_LOG_TIME_SIZE]);

/* Emit a log record without formatting its message. More than 2 KiB of it are cut. */
EDDY_API void eddyi_log_message(enum eddy_log_level level, const char *target,
				const struct eddy_field *fields, struct eddy_str message);

/* Emit an ERROR record of why something did not start. Without a subscriber, write it to stderr. */
EDDY_API EDDY_PRINTF(2, 3) void eddyi_log_failure(const char *target, const char *format, ...);

EDDY_END_DECLS

#endif
