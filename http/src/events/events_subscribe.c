/* Subscribing to a channel, and the stream of a subscriber that keeps its task. */
#include "events.h"
#include "events_channel.h"
#include "exchange/exchange.h"

#include <eddy/list.h>
#include <eddy/select.h>
#include <errno.h>

struct subscriber {
	struct eddyi_receiver receiver;
	struct eddy_req *req;
	struct eddy_event news;
};

static void wake(struct eddyi_receiver *receiver)
{
	struct subscriber *subscriber = eddy_of(receiver, struct subscriber, receiver);

	if (eddyi_receiver_lags(receiver))
		eddyi_exchange_cut(subscriber->req);
	eddy_event_set(&subscriber->news);
}

/* Wait for the next message. Return: 1; 0 at the end; -ECANCELED. */
static int await_next(struct subscriber *subscriber)
{
	struct eddy_case cases[2];
	int r;

	while (!eddyi_receiver_next(&subscriber->receiver)) {
		if (eddyi_receiver_has_ended(&subscriber->receiver))
			return 0;
		eddy_event_clear(&subscriber->news);
		cases[0] = eddy_case_event(&subscriber->news);
		cases[1] = eddy_case_event(eddy_req_stopping(subscriber->req));
		r = eddy_select(cases, 2);
		if (r < 0 || cases[1].ready)
			return r < 0 ? r : 0;
	}
	return 1;
}

/* Send messages on this task until the end. */
static int send_all(struct eddy_events_channel *channel, struct eddy_req *req,
		    struct eddyi_post *last)
{
	struct subscriber subscriber = { .receiver.wake = wake, .req = req };
	struct eddyi_receiver *receiver = &subscriber.receiver;
	int r;

	eddy_event_init(&subscriber.news);
	r = eddyi_receiver_begin(receiver, channel, last);
	if (r < 0)
		return r;
	while ((r = await_next(&subscriber)) > 0) {
		r = eddyi_events_write(&req->res, eddyi_receiver_next(receiver)->text);
		if (r < 0)
			break;
		eddyi_receiver_advance(receiver);
	}
	eddyi_receiver_end(receiver);
	return r;
}

int eddy_events_subscribe(struct eddy_events_channel *channel, struct eddy_res *res)
{
	const struct eddy_events_options options = { eddyi_channel_comment_ns(channel) };
	struct eddy_req *req = res->req;
	/* A client with the head misses nothing that is published then. */
	struct eddyi_post *last = eddyi_channel_find(channel, eddy_events_last_id(req));
	int r = eddy_res_events(res, &options);

	if (r < 0) {
		eddyi_post_unref(last);
		return r;
	}
	if (res->coded.coder || !req->stream->verbs->listen)
		return send_all(channel, req, last);
	r = req->stream->verbs->listen(req, channel, last);
	res->goes_on = r == 0;
	return r;
}
