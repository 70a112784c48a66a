#include "events_channel.h"

#include "events.h"
#include "exchange/exchange.h"

#include <eddy/internal/outside.h>
#include <eddy/list.h>
#include <eddy/log.h>
#include <eddy/select.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define REPLAY_MAX 100
#define LAG_MAX ((size_t)EDDY_MIB)
/* A line that numbers a message. */
#define ID_MAX (sizeof("id: \n") + EDDY_U64_SIZE)
/* The line before a chunk. */
#define CHUNK_LINE_SIZE sizeof("ffffffffffffffff\r\n")

/* ---- messages ---- */

static void fill_text(struct eddyi_events_text *message, const struct eddy_events_message *fields)
{
	char line[CHUNK_LINE_SIZE], *text = message->bytes + CHUNK_LINE_SIZE;
	size_t len = eddyi_events_format(fields, text),
	       line_len = (size_t)snprintf(line, sizeof(line), "%zx\r\n", len);

	memcpy(text - line_len, line, line_len);
	memcpy(text + len, "\r\n", 2);
	message->text = eddy_str(text, len);
	message->chunk = eddy_str(text - line_len, line_len + len + 2);
	/* Its field is the first. */
	message->id = fields->id.ptr ? eddy_str(text + sizeof("id: ") - 1, fields->id.len) :
				       eddy_str(NULL, 0);
	message->topic = eddy_str(fields->topic.ptr ? text + len + 2 : NULL, fields->topic.len);
	if (fields->topic.len)
		memcpy(text + len + 2, fields->topic.ptr, fields->topic.len);
}

int eddy_events_publish(struct eddy_events_channel *channel,
			const struct eddy_events_message *message)
{
	struct eddy_events_message numbered = *message;
	struct eddyi_events_text *text;
	char number[EDDY_U64_SIZE];
	int r;

	if (!eddyi_events_is_valid(message))
		return -EINVAL;
	text = malloc(sizeof(*text) + CHUNK_LINE_SIZE + eddyi_events_format(message, NULL) +
		      ID_MAX + sizeof("\r\n") + message->topic.len);
	if (!text)
		return -ENOMEM;
	pthread_mutex_lock(&channel->fanout.lock);
	channel->number++;
	if (!message->id.ptr && !channel->options.no_replay)
		numbered.id = eddy_str(number, eddy_u64_format(channel->number, number));
	fill_text(text, &numbered);
	r = eddyi_fanout_send(&channel->fanout, text, text->text.len);
	pthread_mutex_unlock(&channel->fanout.lock);
	if (r < 0)
		free(text);
	return r;
}

/* ---- the channel ---- */

struct eddy_events_channel *
eddy_events_channel_new(const struct eddy_events_channel_options *options)
{
	static const struct eddy_events_channel_options defaults;
	struct eddy_events_channel *channel = eddyi_fanout_new(sizeof(*channel), free);
	struct eddy_events_channel_options *own;

	if (!channel)
		return NULL;
	own = &channel->options;
	*own = options ? *options : defaults;
	own->replay_max = own->replay_max ? own->replay_max : REPLAY_MAX;
	own->lag_max = own->lag_max ? own->lag_max : LAG_MAX;
	own->comment_ns = own->comment_ns ? own->comment_ns : EDDYI_EVENTS_COMMENT_NS;
	channel->fanout.timeout_ns = own->comment_ns;
	channel->fanout.kept_max = own->no_replay ? 0 : own->replay_max;
	/* A receiver that gets all of it is not cut at the next message. */
	channel->fanout.kept_max_len = own->lag_max / 2;
	/* Ids of an earlier process are lower than all of this one. */
	channel->number = eddyi_clock(CLOCK_REALTIME) / EDDY_MS * 1000;
	return channel;
}

void eddy_events_channel_free(struct eddy_events_channel *channel)
{
	if (!channel)
		return;
	pthread_mutex_lock(&channel->fanout.lock);
	__atomic_store_n(&channel->has_ended, true, __ATOMIC_RELEASE);
	eddyi_fanout_wake(&channel->fanout);
	pthread_mutex_unlock(&channel->fanout.lock);
	eddyi_fanout_unref(&channel->fanout);
}

/* ---- subscribers ---- */

struct eddyi_post *eddyi_channel_find(struct eddy_events_channel *channel, struct eddy_str last_id)
{
	struct eddyi_post *post, *next;

	pthread_mutex_lock(&channel->fanout.lock);
	post = last_id.len || channel->options.greets ? channel->fanout.oldest :
							channel->fanout.newest;
	for (struct eddyi_post *at = post; last_id.len && (next = eddyi_post_next(at)); at = next)
		if (eddy_str_eq(((struct eddyi_events_text *)at->message)->id, last_id))
			post = next;
	eddyi_post_ref(post);
	pthread_mutex_unlock(&channel->fanout.lock);
	return post;
}

static struct eddy_events_channel *channel_of(const struct eddyi_receiver *receiver)
{
	return eddy_of(receiver->branch->fanout, struct eddy_events_channel, fanout);
}

const struct eddyi_events_text *eddyi_channel_next(struct eddyi_receiver *receiver,
						   struct eddy_str topic)
{
	const struct eddyi_events_text *text;

	while ((text = eddyi_receiver_next(receiver)) && text->topic.ptr &&
	       (!topic.ptr || !eddy_str_eq(text->topic, topic)))
		eddyi_receiver_advance(receiver, 1);
	return text;
}

bool eddyi_channel_lags(const struct eddyi_receiver *receiver)
{
	return eddyi_receiver_lag(receiver) > channel_of(receiver)->options.lag_max;
}

bool eddyi_channel_has_ended(const struct eddyi_receiver *receiver)
{
	/* Messages may have been published after the caller looked for one. */
	return __atomic_load_n(&channel_of(receiver)->has_ended, __ATOMIC_ACQUIRE) &&
	       !eddyi_receiver_next(receiver);
}

/* One that keeps its task. */
struct subscriber {
	struct eddyi_receiver receiver;
	struct eddy_req *req;
	struct eddy_event news;
	bool sends;
};

static void wake(struct eddyi_receiver *receiver)
{
	struct subscriber *subscriber = eddy_of(receiver, struct subscriber, receiver);

	if (subscriber->sends && !subscriber->req->cut && eddyi_channel_lags(receiver)) {
		eddy_debug(
			"eddy::http",
			"an event stream of %s is closed: its client reads the events too slowly",
			subscriber->req->stream->bound);
		eddyi_exchange_cut(subscriber->req);
	}
	eddy_event_set(&subscriber->news);
}

/* Send messages on this task until the end of the channel, or a stop of the server. */
static int send_all(struct eddy_events_channel *channel, struct eddy_str topic,
		    struct eddy_req *req, struct eddyi_post *at)
{
	struct subscriber subscriber = { .receiver.wake = wake, .req = req };
	struct eddyi_receiver *receiver = &subscriber.receiver;
	const struct eddyi_events_text *message;
	struct eddy_case cases[2] = { 0 };
	int r;

	eddy_event_init(&subscriber.news);
	r = eddyi_receiver_begin(receiver, &channel->fanout, at);
	if (r < 0)
		return r;
	while (r >= 0 && !cases[1].ready) {
		message = eddyi_channel_next(receiver, topic);
		if (message) {
			subscriber.sends = true;
			r = eddyi_events_write(&req->res, message->text);
			subscriber.sends = false;
			eddyi_receiver_advance(receiver, 1);
		} else if (eddyi_channel_has_ended(receiver)) {
			break;
		} else {
			eddy_event_clear(&subscriber.news);
			cases[0] = eddy_case_event(&subscriber.news);
			cases[1] = eddy_case_event(eddy_req_stopping(req));
			r = eddy_select(cases, 2);
		}
	}
	eddyi_receiver_end(receiver);
	return r < 0 ? r : 0;
}

int eddy_events_subscribe_to(struct eddy_events_channel *channel, struct eddy_str topic,
			     struct eddy_res *res)
{
	const struct eddy_events_options options = { channel->options.comment_ns };
	struct eddy_req *req = res->req;
	struct eddyi_post *at;
	int r;

	/* The program may free the channel while the head is sent. */
	eddyi_fanout_ref(&channel->fanout);
	/* A client with the head misses nothing that is published then. */
	at = eddyi_channel_find(channel, eddy_events_last_id(req));
	r = eddy_res_events(res, &options);
	if (r < 0) {
		eddyi_post_unref(&channel->fanout, at);
	} else if (res->coded.coder || !req->stream->verbs->listen) {
		r = send_all(channel, topic, req, at);
	} else {
		r = req->stream->verbs->listen(req, channel, topic, at);
		res->goes_on = r == 0;
	}
	eddyi_fanout_unref(&channel->fanout);
	return r;
}

int eddy_events_subscribe(struct eddy_events_channel *channel, struct eddy_res *res)
{
	return eddy_events_subscribe_to(channel, eddy_str(NULL, 0), res);
}
