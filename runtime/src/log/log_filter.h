/* log_filter.h: which records are wanted, by target and level. */
#ifndef EDDYI_LOG_FILTER_H
#define EDDYI_LOG_FILTER_H

#include <eddy/log.h>

#define EDDYI_LOG_FILTER_PARTS_MAX 32

struct eddyi_log_filter {
	struct {
		struct eddy_str target; /* empty: covers all */
		enum eddy_log_level level;
	} parts[EDDYI_LOG_FILTER_PARTS_MAX];
	size_t count;
	enum eddy_log_level level; /* the highest of all */
	char text[1024];           /* that the parts point into */
	char bad[256]; /* the parts that were not understood, for people; "" when none */
};

/* Parse `text` as EDDY_LOG is written; NULL and blank text mean "info", and so does a text of which
 * nothing is understood. Never fails: see `bad`. The filter can't be moved. */
void eddyi_log_filter_parse(struct eddyi_log_filter *filter, const char *text);

bool eddyi_log_filter_lets(const struct eddyi_log_filter *filter, enum eddy_log_level level,
			   const char *target);

#endif
