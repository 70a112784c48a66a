/* eddy/events.h: server-sent events (HTML standard, section 9.2).
 *
 *     static int progress(struct eddy_req *req, struct eddy_res *res)
 *     {
 *             int r = eddy_res_events(res, NULL);
 *
 *             while (r == 0 && !is_done(req))
 *                     r = eddy_events_send(res, &(struct eddy_events_message){
 *                             .event = EDDY_STR("progress"), .data = next_step(req) });
 *             return r;
 *     }
 *
 * A channel sends the same messages to all its subscribers. It belongs to no loop: any thread
 * publishes, and handlers of all loops subscribe.
 *
 *     static int news(struct eddy_req *req, struct eddy_res *res)
 *     {
 *             return eddy_events_subscribe(eddy_req_context(req), res);
 *     }
 *
 * A message with a topic is sent to the subscribers of that topic alone, such as the clients of one
 * user:
 *
 *     return eddy_events_subscribe_to(channel, user, res);
 *
 * While a stream is open, the end of the client's own stream counts as its departure (for
 * eddy_res_events() only if the route leaves .cancel_on as it is), and minimum rates do not apply.
 */
#ifndef EDDY_EVENTS_H
#define EDDY_EVENTS_H

#include <eddy/res.h>

EDDY_BEGIN_DECLS

/* A message of a stream. A member whose .ptr is NULL is absent. */
struct eddy_events_message {
	struct eddy_str id;    /* without CR, LF and NUL; an empty one resets that of the client */
	struct eddy_str event; /* without CR, LF and NUL; absent: "message" */
	struct eddy_str data;  /* UTF-8; CR, LF and CR LF end a line; absent: there is no event */
	uint64_t retry_ns; /* before the client connects again, sent in ms; default 0: as before */
	struct eddy_str comment; /* lines that clients ignore */
	/* Only its subscribers get the message of a channel; absent: all do. Not sent. */
	struct eddy_str topic;
};

/* ---- the stream of a handler ---- */

/* A zero member takes its default. */
struct eddy_events_options {
	uint64_t comment_ns; /* a comment is sent after this silence; default 15 s; EDDY_NEVER */
};

/* Begin a stream of events, and send its head: text/event-stream, with cache-control: no-store. The
 * stream ends when the handler returns. Comments are sent while the handler does something else. If
 * the client leaves, suspending calls of the handler return -ECANCELED. Suspends.
 * Return: as eddy_res_write(), thus -EPIPE to HEAD; -EINVAL if another body has begun. */
EDDY_API int eddy_res_events(struct eddy_res *res, const struct eddy_events_options *options);

/* Send a message at once, after eddy_res_events(). A slow client applies backpressure. Suspends.
 * Return: 0; -ECONNRESET if the client has left; -EINVAL for a malformed id or event; otherwise as
 * eddy_res_write(). */
EDDY_API int eddy_events_send(struct eddy_res *res, const struct eddy_events_message *message);

/* Get the id of the last message that a client has received before it connected again.
 * Return: .ptr NULL if there is none. */
EDDY_API struct eddy_str eddy_events_last_id(const struct eddy_req *req);

/* ---- channels ---- */

struct eddy_events_channel;

/* A zero member takes its default. */
struct eddy_events_channel_options {
	/* Messages kept for clients that connect again, of all topics together; default 100. */
	unsigned replay_max;
	bool no_replay; /* keep none, and do not number them */
	bool greets;    /* send what is kept to clients without a last-event-id, too */
	/* Bytes that a subscriber may be behind, messages of other topics included. A subscriber
	 * that is further behind is cut, connects again, and gets what is kept. At most half as
	 * many bytes are kept for that. Default 1 MiB. */
	size_t lag_max;
	uint64_t comment_ns; /* as of eddy_events_options */
};

/* Return: NULL on allocation failure. */
EDDY_API struct eddy_events_channel *
eddy_events_channel_new(const struct eddy_events_channel_options *options);

/* End the channel: its subscribers get what has been published, and their streams end. Any thread
 * may call it. NULL is accepted. */
EDDY_API void eddy_events_channel_free(struct eddy_events_channel *channel);

/* Send a message to all subscribers, or to those of its topic. It is formatted once, and shared. A
 * message without an id is numbered, unless the channel has .no_replay. Never suspends. Any thread
 * may call it, until the channel is freed.
 * Return: 0; -EINVAL for a malformed id or event; -ENOMEM. */
EDDY_API int eddy_events_publish(struct eddy_events_channel *channel,
				 const struct eddy_events_message *message);

/* Answer with the messages of a channel that have no topic, from now on, or from behind the
 * request's last-event-id, if that is kept, else from the first that is kept. Return its result from
 * the handler at once: the stream then has no task and no buffer until something is published. A
 * response that is compressed keeps its task, as each has a compressor of its own: the call returns
 * when the stream ends. A stop of the server ends the stream. The channel must be valid until the
 * call suspends. Suspends.
 * Return: as eddy_res_events(); -EBUSY for a second subscription in one request. */
EDDY_API int eddy_events_subscribe(struct eddy_events_channel *channel, struct eddy_res *res);

/* As eddy_events_subscribe(), and with the messages of a topic, which is borrowed until the call
 * returns. All messages are looked at, so one channel suits some thousand subscribers. Suspends. */
EDDY_API int eddy_events_subscribe_to(struct eddy_events_channel *channel, struct eddy_str topic,
				      struct eddy_res *res);

EDDY_END_DECLS

#endif
