/* ws_eddy: what `./dev bench ws` asks.
 *
 *     ws_eddy ADDRESS
 *
 * GET /echo sends each message back; /parked does so on a route with .parks. All of /room get each
 * message that one sends. GET /events is a stream of what is sent to POST /events. GET /hello is a
 * small response.
 */
#include <eddy/events.h>
#include <eddy/http.h>
#include <eddy/ws_room.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "Hello, World!");
}

static int echo(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_message message;
	int r;

	(void)data;
	while ((r = eddy_ws_recv(ws, &message)) > 0)
		if ((r = eddy_ws_send(ws, message.type, message.bytes)) < 0)
			break;
	return r;
}

static int chat(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_room *room = data;
	struct eddy_ws_message message;
	int r = eddy_ws_room_join(room, ws);

	while (r >= 0 && (r = eddy_ws_recv(ws, &message)) > 0)
		r = eddy_ws_room_send(room, message.type, message.bytes);
	return r;
}

static int subscribe(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_events_subscribe(eddy_req_context(req), res);
}

static int publish(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_events_message message = { 0 };
	int r = eddy_req_body(req, &message.data);

	if (r == 0)
		r = eddy_events_publish(eddy_req_context(req), &message);
	return r < 0 ? r : eddy_res_no_content(res);
}

int main(int argc, char **argv)
{
	struct eddy_events_channel *channel;
	struct eddy_ws_room *room;
	struct eddy_app *app;
	int r;

	if (argc != 2)
		return 2;
	app = eddy_app_new();
	room = eddy_ws_room_new(NULL);
	channel = eddy_events_channel_new(NULL);
	eddy_app_set_context(app, channel);
	eddy_app_bind(app, argv[1]);
	eddy_app_map_get(app, "/hello", hello);
	eddy_app_map_ws(app, "/echo", echo, NULL);
	eddy_app_map_ws(app, "/parked", echo, &(struct eddy_ws_options){ .parks = true });
	eddy_app_map_ws(app, "/room", chat, &(struct eddy_ws_options){ .data = room });
	eddy_app_map_get(app, "/events", subscribe);
	eddy_app_map_post(app, "/events", publish);
	r = eddy_app_run_blocking(app);
	eddy_events_channel_free(channel);
	eddy_ws_room_unref(room);
	return r < 0;
}
