/* WebSockets that send back, and that send to all. */
#include "tour.h"

#include <eddy/ws_room.h>

/* GET /ws/echo */
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

/* GET /ws/chat */
static int chat(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_room *room = data;
	struct eddy_ws_message message;
	int r = eddy_ws_room_join(room, ws);

	while (r >= 0 && (r = eddy_ws_recv(ws, &message)) > 0)
		r = eddy_ws_room_send(room, message.type, message.bytes);
	return r;
}

void tour_map_sockets(struct eddy_app *app, struct eddy_ws_room *room, bool deflate)
{
	static const char *const protocols[] = { "echo", NULL };

	eddy_app_map_ws(app, "/ws/echo", echo,
			&(struct eddy_ws_options){ .protocols = protocols, .deflate.on = deflate });
	eddy_app_map_ws(app, "/ws/chat", chat,
			&(struct eddy_ws_options){ .deflate.on = deflate, .data = room });
}
