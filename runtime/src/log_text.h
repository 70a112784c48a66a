/* log_text.h: a record as one line of text. */
#ifndef EDDYI_LOG_TEXT_H
#define EDDYI_LOG_TEXT_H

#include <eddy/log.h>

/* No longer than what a pipe takes in one piece. */
#define EDDYI_LOG_LINE_MAX 4096

/* Write the line, its newline included; no NUL. Return: its length. */
size_t eddyi_log_text_format(const struct eddy_record *record, bool colour,
			     char line[EDDYI_LOG_LINE_MAX]);

#endif
