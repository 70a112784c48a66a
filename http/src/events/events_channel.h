/* events_channel.h: messages that many event streams send.
 *
 * The messages of a channel are a list, in the order of publication, and each is formatted once. A
 * receiver is a place in that list: what follows is still to be sent. A message is freed when the
 * channel does not keep it, and all receivers are behind it. A branch has the receivers of one loop, and
 * a message of the loop that wakes them. */
#ifndef EDDYI_EVENTS_CHANNEL_H
#define EDDYI_EVENTS_CHANNEL_H

#include <eddy/events.h>
#include <eddy/timer.h>

/* A published message, with the framing of a chunk around its text. */
struct eddyi_post {
	struct eddyi_post *next; /* NULL: there is none yet; changed atomically */
	unsigned refs; /* those of receivers, of the channel and of the one before; changed atomically */
	uint64_t end;       /* bytes of all messages up to the end of this one */
	struct eddy_str id; /* .ptr NULL: none */
	struct eddy_str text;
	struct eddy_str chunk;
	char bytes[];
};

struct eddyi_branch;

/* A subscriber, on its loop. */
struct eddyi_receiver {
	struct eddy_node node;
	struct eddyi_branch *branch;
	struct eddyi_post *last; /* that it is done with */
	/* Messages have been published, or the channel has ended. May end the receiver. */
	void (*wake)(struct eddyi_receiver *receiver);
};

/* Find the message behind which a new subscriber begins. Return: a reference to it. */
struct eddyi_post *eddyi_channel_find(struct eddy_events_channel *channel, struct eddy_str last_id);
void eddyi_post_unref(struct eddyi_post *post);

/* Begin a receiver on this loop, whose `wake` is set, behind a message. Takes the reference, also on
 * failure. Return: 0, -ENOMEM. */
int eddyi_receiver_begin(struct eddyi_receiver *receiver, struct eddy_events_channel *channel,
			 struct eddyi_post *last);
void eddyi_receiver_end(struct eddyi_receiver *receiver);

/* Get the next message. Return: NULL if there is none yet. */
struct eddyi_post *eddyi_receiver_next(const struct eddyi_receiver *receiver);

/* Be done with the next message. */
void eddyi_receiver_advance(struct eddyi_receiver *receiver);

/* Whether it is further behind than the channel allows. */
bool eddyi_receiver_lags(const struct eddyi_receiver *receiver);

/* Whether nothing follows the messages that have been published. */
bool eddyi_receiver_has_ended(const struct eddyi_receiver *receiver);

/* Get the queue of timeouts of this loop and channel, for comments; NULL: no comments. */
struct eddy_timeout_queue *eddyi_receiver_clock(const struct eddyi_receiver *receiver);

uint64_t eddyi_channel_comment_ns(const struct eddy_events_channel *channel);

#endif
