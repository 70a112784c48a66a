/* events_channel.h: messages that many event streams send. Each is formatted once, and numbered. */
#ifndef EDDYI_EVENTS_CHANNEL_H
#define EDDYI_EVENTS_CHANNEL_H

#include "fanout/fanout.h"

#include <eddy/events.h>

struct eddy_events_channel {
	struct eddyi_fanout fanout; /* of structures eddyi_events_text */
	struct eddy_events_channel_options options;
	uint64_t number; /* of the last message; with the lock */
	bool has_ended;  /* changed atomically */
};

/* A message, with the framing of a chunk around its text. */
struct eddyi_events_text {
	struct eddy_str id;    /* .ptr NULL: none */
	struct eddy_str topic; /* .ptr NULL: for all */
	struct eddy_str text;
	struct eddy_str chunk;
	char bytes[];
};

/* Find the message at which a new subscriber begins. Return: a reference to its post. */
struct eddyi_post *eddyi_channel_find(struct eddy_events_channel *channel, struct eddy_str last_id);

/* Get the next message for a receiver with this topic. Those before it are taken. Return: NULL if
 * there is none yet. */
const struct eddyi_events_text *eddyi_channel_next(struct eddyi_receiver *receiver,
						   struct eddy_str topic);

/* Whether a receiver is further behind than the channel allows. */
bool eddyi_channel_lags(const struct eddyi_receiver *receiver);

/* Whether nothing follows the messages that a receiver has taken. */
bool eddyi_channel_has_ended(const struct eddyi_receiver *receiver);

#endif
