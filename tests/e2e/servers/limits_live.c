#include "limits_parts.h"

#include <eddy/events.h>
#include <eddy/runtime.h>
#include <eddy/ws_room.h>

static struct eddy_events_channel *channel;
static struct eddy_ws_room *room;

/* Sends each message back, and to all in the room. */
static int chat(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_message message;
	int r = eddy_ws_room_join(room, ws);

	(void)data;
	while (r >= 0 && (r = eddy_ws_recv(ws, &message)) > 0) {
		r = eddy_ws_send(ws, message.type, message.bytes);
		if (r == 0)
			r = eddy_ws_room_send(room, message.type, message.bytes);
	}
	return r;
}

static int echo_pieces(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_message message;
	int r;

	(void)data;
	while ((r = eddy_ws_recv(ws, &message)) > 0) {
		r = eddy_ws_send_some(ws, message.type, message.bytes, message.is_last);
		if (r < 0)
			break;
	}
	return r;
}

/* Sends a message to this client, and to all subscribers of the channel, a few times. */
static int tick(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_events_message message = { .data = EDDY_STR("tick") };
	uint32_t n;
	int r = eddy_req_path(req, EDDY_TO(&n));

	if (r == 0)
		r = eddy_res_events(res, NULL);
	for (uint32_t i = 0; i < n && r == 0; i++) {
		eddy_events_publish(channel, &message);
		r = eddy_events_send(res, &message);
		if (r == 0)
			r = eddy_sleep(EDDY_MS);
	}
	return r;
}

static int feed(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_events_subscribe(channel, res);
}

void map_live(struct eddy_app *app)
{
	struct eddy_ws_options options = { .deflate = { .on = true, .takeover = true },
					   .queue_max = 100000 };

	channel =
		eddy_events_channel_new(&(struct eddy_events_channel_options){ .lag_max = 10000 });
	room = eddy_ws_room_new(&(struct eddy_ws_room_options){ .lag_max = 100000 });
	eddy_app_map_ws(app, "/ws/chat", chat, &options);
	options.parks = true;
	eddy_app_map_ws(app, "/ws/parked", chat, &options);
	options.parks = false;
	options.streams = true;
	eddy_app_map_ws(app, "/ws/pieces", echo_pieces, &options);
	eddy_app_map_get(app, "/ticks/{n}", tick);
	eddy_app_map_get(app, "/feed", feed);
}

void free_live(void)
{
	eddy_events_channel_free(channel);
	eddy_ws_room_unref(room);
}
