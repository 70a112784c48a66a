/* events.h: the event stream that a handler sends. */
#ifndef EDDYI_EVENTS_H
#define EDDYI_EVENTS_H

#include "exchange/exchange_state.h"

#include <eddy/events.h>

#define EDDYI_EVENTS_COMMENT_NS (15 * EDDY_SECOND)

/* Keeps a connection alive. */
#define EDDYI_EVENTS_KEEP_ALIVE ":\n\n"

/* Whether the members of a message are well-formed. */
bool eddyi_events_is_valid(const struct eddy_events_message *message);

/* Format a valid message. `text` NULL: only count. Return: its length. */
size_t eddyi_events_format(const struct eddy_events_message *message, char *text);

/* Send text of a stream that has begun. Suspends. Return: as eddy_events_send(). */
int eddyi_events_write(struct eddy_res *res, struct eddy_str text);
#endif
