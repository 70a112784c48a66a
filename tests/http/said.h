/* said.h: the ERROR records that are emitted while they are listened to, a line each. */
#ifndef EDDY_TESTS_SAID_H
#define EDDY_TESTS_SAID_H

#include <eddy/log.h>
#include <stdio.h>
#include <string.h>

static char said[32 * 1024];

static inline void said_record(const struct eddy_record *record, void *arg)
{
	size_t len = strlen(said);

	(void)arg;
	if (record->level == EDDY_LOG_ERROR)
		snprintf(said + len, sizeof(said) - len, "%.*s\n", EDDY_FMT(record->message));
}

static inline void said_begin(void)
{
	said[0] = '\0';
	eddy_log_subscribe(said_record, NULL);
}

static inline const char *said_end(void)
{
	eddy_log_unsubscribe();
	return said;
}

#endif
