#include "dropbox.h"

struct event {
	char json[128];
};

struct stream {
	struct eddy_node node;
	struct eddy_str user;
	struct eddy_chan events;
};

static int get_events(struct eddy_req *req, struct eddy_res *res)
{
	struct dropbox *box = eddy_req_context(req);
	struct stream stream = { .user = dropbox_caller(req) };
	struct eddy_events_message message = { .comment = EDDY_STR("welcome") };
	struct event event;
	int r = eddy_chan_init(&stream.events, sizeof(event), 16);

	if (r < 0)
		return r;
	eddy_list_append(&box->streams, &stream.node);
	r = eddy_res_events(res, &(struct eddy_events_options){ .comment_ns = EDDY_NEVER });
	while (r >= 0 && (r = eddy_events_send(res, &message)) == 0) {
		struct eddy_case cases[] = { eddy_case_chan_recv(&stream.events, &event),
					     eddy_case_event(eddy_req_stopping(req)),
					     eddy_case_after(15 * EDDY_SECOND) };

		r = eddy_select(cases, 3);
		if (cases[1].ready)
			break;
		message = (struct eddy_events_message){ .comment = EDDY_STR("ping") };
		if (cases[0].ready)
			message = (struct eddy_events_message){ .data = eddy_str_from(event.json) };
	}
	eddy_list_remove(&stream.node);
	eddy_chan_deinit(&stream.events);
	return r < 0 ? r : 0;
}

void dropbox_announce(void *arg, const struct eddy_pg_notification *item)
{
	struct dropbox *box = arg;
	struct eddy_str json, owner = eddy_str_from(item->payload);
	struct event event;

	if (!eddy_str_split(&owner, ' ', &json))
		return; /* connected to the database */
	snprintf(event.json, sizeof(event.json), "%.*s", EDDY_FMT(json));
	for (struct eddy_node *node = box->streams.next; node != &box->streams; node = node->next) {
		struct stream *stream = eddy_of(node, struct stream, node);

		if (eddy_str_eq(stream->user, owner))
			eddy_chan_try_send(&stream->events, &event); /* if it has room */
	}
}

static const struct eddy_operation events_operation = {
	.summary = "Follow changes of your files",
	.responses = { { 200, "Server-sent events.", .type = "text/event-stream" } },
};

void dropbox_map_events(struct eddy_group *api)
{
	eddy_route_describe(eddy_app_map_get(api, "/events", get_events), &events_operation);
}
