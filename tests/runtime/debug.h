/* debug.h: EDDY_DEBUG in a test, and the WARN records that it makes. */
#ifndef EDDY_TESTS_DEBUG_H
#define EDDY_TESTS_DEBUG_H

#include <eddy/internal/debug.h>
#include <eddy/log.h>
#include <stdio.h>
#include <string.h>

/* runtime/src/report/report.h */
extern const struct eddyi_debug eddyi_debug_checks;

static char warned[8 * 1024];

static inline void warned_record(const struct eddy_record *record, void *arg)
{
	size_t len;

	(void)arg;
	/* Not those of stalls, which another thread emits. */
	if (record->level != EDDY_LOG_WARN || strcmp(record->target, "eddy::debug") != 0)
		return;
	len = strlen(warned);
	snprintf(warned + len, sizeof(warned) - len, "%s: %.*s\n", record->target,
		 EDDY_FMT(record->message));
}

/* From here on, as if the variable had been set when the process began. */
static inline void debug_begin(void)
{
	__atomic_store_n(&eddyi_debug, &eddyi_debug_checks, __ATOMIC_RELAXED);
	eddy_log_subscribe(warned_record, NULL);
}

#endif
