/* log.h: the filter of log records, and records of a program without a subscriber. */
#ifndef EDDYI_LOG_H
#define EDDYI_LOG_H

#include <eddy/log.h>

#define EDDYI_LOG_FILTER_PARTS_MAX 32

struct eddyi_log_filter {
	struct {
		struct eddy_str target; /* empty: covers all */
		enum eddy_log_level level;
	} parts[EDDYI_LOG_FILTER_PARTS_MAX];
	size_t count;
	enum eddy_log_level level; /* the highest of all parts */
	char text[1024];           /* the parts point into it */
	char bad[256];             /* the invalid parts, for messages; "" if none */
};

/* Parse `text` in the syntax of EDDY_LOG. NULL, blank text, and text without a valid part mean
 * "info". Never fails, see `bad`. The filter must not be moved. */
void eddyi_log_filter_parse(struct eddyi_log_filter *filter, const char *text);

bool eddyi_log_filter_lets(const struct eddyi_log_filter *filter, enum eddy_log_level level,
			   const char *target);

/* From now on, whenever there is no subscriber, write WARN and ERROR records to stderr, or those that
 * EDDY_LOG selects. */
void eddyi_log_stand_in(void);

#endif
