/* timeline_json.h: writes marks as events in Chrome's trace event format. */
#ifndef EDDYI_TIMELINE_JSON_H
#define EDDYI_TIMELINE_JSON_H

#include "tape.h"

#include <eddy/internal/text.h>

/* Maximum length of the events of one mark. */
#define EDDYI_TIMELINE_EVENTS_MAX (8 * EDDY_KIB)

/* Set the begin of the timeline, to which all times are relative. */
void eddyi_timeline_json_begin(uint64_t began_ns);

/* Each event is preceded by a comma and a newline. */
void eddyi_timeline_json_group(struct eddyi_text *text, uint32_t group, const char *name);
void eddyi_timeline_json_mark(struct eddyi_text *text, struct eddyi_tape *tape, size_t at);
void eddyi_timeline_json_dropped(struct eddyi_text *text, const struct eddyi_tape *tape,
				 uint64_t at_ns, uint64_t count);
void eddyi_timeline_json_counter(struct eddyi_text *text, uint32_t group, uint64_t at_ns,
				 const char *name, const char *unit, uint64_t value);

#endif
