/* chat: rooms by name, which remember their last messages (WebSockets).
 *
 *     $ chat localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ talk ws://localhost:7878/rooms/tea 1 'The kettle boils.'
 *     The kettle boils.
 *     $ talk ws://localhost:7878/rooms/tea 3 &
 *     The kettle boils.
 *     $ talk ws://localhost:7878/rooms/tea 2 'Is there milk?'
 *     The kettle boils.
 *     Is there milk?
 *     $ talk ws://localhost:7878/rooms/tea 3 'In the fridge.' | tail -n 1
 *     In the fridge.
 *     $ wait %2
 *     Is there milk?
 *     In the fridge.
 */
#include <eddy/http.h>
#include <eddy/ws_room.h>

enum { ROOMS_MAX = 100, LAST = 20, MESSAGE_MAX = 500 };

static struct room {
	char name[32];
	struct eddy_ws_room *members;
	size_t count;                      /* of messages so far; message i is at i % LAST */
	struct eddy_ws_message last[LAST]; /* their bytes are below */
	char bytes[LAST][MESSAGE_MAX];
} rooms[ROOMS_MAX];

/* Find the room of /rooms/{name}, or make it, before the handshake is answered. */
static int enter(struct eddy_req *req, struct eddy_res *res, struct eddy_ws *ws)
{
	struct room *room = rooms;
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0 || name.len >= sizeof(room->name))
		return 400;
	while (room->members && !eddy_str_eq_z(name, room->name))
		if (++room == rooms + ROOMS_MAX)
			return eddy_res_problem(res, 503, "there are %d rooms", ROOMS_MAX);
	memcpy(room->name, name.ptr, name.len);
	if (!room->members)
		room->members = eddy_ws_room_new(NULL); /* for as long as the program runs */
	eddy_ws_set_data(ws, room);
	return 0;
}

static int chat(struct eddy_ws *ws, void *data)
{
	struct room *room = eddy_ws_data(ws);
	struct eddy_ws_message message;
	int r = eddy_ws_room_join(room->members, ws);

	/* All of them are less than .queue_max: no call suspends, and no new message comes between. */
	for (size_t i = room->count > LAST ? room->count - LAST : 0; i < room->count && r == 0; i++)
		r = eddy_ws_send(ws, room->last[i % LAST].type, room->last[i % LAST].bytes);
	while (r == 0 && (r = eddy_ws_recv(ws, &message)) > 0) {
		message.bytes.ptr = memcpy(room->bytes[room->count % LAST], message.bytes.ptr,
					   message.bytes.len);
		room->last[room->count++ % LAST] = message;
		r = eddy_ws_room_send(room->members, message.type, message.bytes);
	}
	return r;
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 }); /* no lock */
	eddy_app_map_ws(app, "/rooms/{name}", chat,
			&(struct eddy_ws_options){ .message_max = MESSAGE_MAX, .open = enter });
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
