/* ws_output.h: the frames that a WebSocket sends. Bytes that the kernel does not take at once are
 * queued. */
#ifndef EDDYI_WS_OUTPUT_H
#define EDDYI_WS_OUTPUT_H

#include "ws_frame.h"
#include "wire/sender.h"

#include <eddy/internal/figure.h>
#include <eddy/observer.h>
#include <eddy/ws.h>

/* Messages and bytes that all sockets have received, and those that they have sent. */
extern struct eddyi_figure eddyi_ws_figures[4];

/* A frame, shared by the queues of several sockets. */
struct eddyi_ws_shared {
	unsigned refs;                  /* changed atomically */
	struct eddyi_ws_shared *packed; /* the same, compressed; NULL: it is not */
	size_t len;
	char bytes[];
};

/* Make the bytes of a frame. Return: NULL on allocation failure. */
struct eddyi_ws_shared *eddyi_ws_shared_new(const struct eddyi_ws_frame *frame,
					    const char *payload);

/* NULL: does nothing. */
void eddyi_ws_shared_unref(struct eddyi_ws_shared *shared);

/* Invariants:
 * 1. Frames of `queue` are sent by `sender`, in order.
 * 2. `later` is empty, unless `in_message`. */
struct eddyi_ws_output {
	struct eddyi_sender sender;
	struct eddy_node queue;
	struct eddy_node later; /* whole messages behind the one that is sent in pieces */
	size_t queued;          /* bytes of `queue` and `later`, with their overhead */
	struct eddy_socket_outcome outcome; /* of the socket; here, what is sent is counted */
	bool in_message;                    /* others wait for the end of this message */
	bool masks;                         /* a client does */
};

void eddyi_ws_output_init(struct eddyi_ws_output *output, bool masks);
void eddyi_ws_output_deinit(struct eddyi_ws_output *output);

/* Send a frame; sets whether it is masked. Messages of others wait for the end of one that has
 * begun. Never suspends. Return: 0; -ENOMEM; -EAGAIN without entropy. */
int eddyi_ws_output_put(struct eddyi_ws_output *output, struct eddyi_ws_frame *frame,
			const char *payload);

/* Most messages of one eddyi_ws_output_share(). */
#define EDDYI_WS_SHARED_MAX 16

/* Send framed messages. Never suspends. Return: 0; -ENOMEM; -ENOBUFS if more than `max` bytes would
 * be queued, and some of them are not sent. */
int eddyi_ws_output_share(struct eddyi_ws_output *output, struct eddyi_ws_shared *const *shared,
			  size_t count, size_t max);

/* The verbs of the sender that concern the queue. */
struct eddy_str eddyi_ws_output_next(struct eddyi_sender *sender);
void eddyi_ws_output_take(struct eddyi_sender *sender, size_t len);

#endif
