/* log_json.h: log records as lines of JSON. */
#ifndef EDDYI_LOG_JSON_H
#define EDDYI_LOG_JSON_H

#include <eddy/log.h>

/* Format a record as a line of JSON, with a newline and no NUL. Invalid UTF-8 becomes U+FFFD,
 * numbers above INT64_MAX become strings; what does not fit is left out. Return: its length. */
size_t eddyi_log_format_json(const struct eddy_record *record, char line[EDDY_LOG_LINE_MAX]);

#endif
