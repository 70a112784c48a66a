/* sockets: a server of WebSockets, with all options of eddy/ws.h.
 *
 *     sockets [--max BYTES] [--queue-max BYTES] [--ping MS] [--pong MS] [--deflate] [--takeover] [--lag-max BYTES]
 *             [--skips] [--cert FILE --key FILE]
 *
 * GET /echo sends each message back; /parked does so on a route with .parks, /pieces by pieces.
 * /close closes the socket with the code that a message says, "4000 REASON". /busy sends each
 * message back after a second. /again returns -EAGAIN after a message, without .parks. /half begins
 * a message and does not end it; /endless sends pieces of one until it is closed; /leaves returns
 * at once. All of /room get each message that one sends, but "flood" brings 20 MB, and its sender
 * "after" in between; at /early sockets join it before the handshake is answered, and do there as
 * the query says. /rooms joins many rooms, and gets 12 MB before it gets their messages.
 */
#include "settings.h"

#include <eddy/runtime.h>
#include <eddy/ws_room.h>

#include <errno.h>
#include <stdio.h>

struct sockets {
	struct settings common;
	struct eddy_ws_options options;
	struct eddy_ws_room_options room;
	struct eddy_tls_options tls;
};

static const struct setting switches[] = {
	SETTING(struct sockets, "max", options.message_max),
	SETTING(struct sockets, "queue-max", options.queue_max),
	{ "ping", setting_ms, offsetof(struct sockets, options.ping_ns) },
	{ "pong", setting_ms, offsetof(struct sockets, options.pong_ns) },
	SETTING(struct sockets, "deflate", options.deflate.on),
	SETTING(struct sockets, "takeover", options.deflate.takeover),
	SETTING(struct sockets, "lag-max", room.lag_max),
	SETTING(struct sockets, "skips", room.skips),
	SETTING(struct sockets, "cert", tls.cert),
	SETTING(struct sockets, "key", tls.key),
	{ 0 },
};

static int echo(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_message message;
	int r;

	(void)data;
	while ((r = eddy_ws_recv(ws, &message)) > 0) {
		r = eddy_ws_send(ws, message.type, message.bytes);
		if (r < 0)
			break;
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

static int close_as_told(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_message message;
	char text[64], reason[64];
	unsigned code;
	int r;

	(void)data;
	while ((r = eddy_ws_recv(ws, &message)) > 0) {
		snprintf(text, sizeof(text), "%.*s", EDDY_FMT(message.bytes));
		if (sscanf(text, "%u %63[^\n]", &code, reason) == 2)
			eddy_ws_close(ws, code, reason);
	}
	return r;
}

static int echo_late(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_message message;
	int r;

	(void)data;
	while ((r = eddy_ws_recv(ws, &message)) > 0) {
		r = eddy_sleep(EDDY_SECOND);
		if (r == 0)
			r = eddy_ws_send(ws, message.type, message.bytes);
		if (r < 0)
			break;
	}
	return r;
}

static int echo_once(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_message message;
	int r = eddy_ws_recv(ws, &message);

	(void)data;
	if (r > 0)
		r = eddy_ws_send(ws, message.type, message.bytes);
	return r < 0 ? r : -EAGAIN;
}

static int send_half(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_message message;
	int r = eddy_ws_recv(ws, &message);

	(void)data;
	if (r > 0)
		r = eddy_ws_send_some(ws, message.type, message.bytes, false);
	return r < 0 ? r : -EAGAIN;
}

static int send_pieces_without_end(struct eddy_ws *ws, void *data)
{
	static const char bytes[20000];
	int r = 0;

	(void)data;
	while (r == 0)
		r = eddy_ws_send_some(ws, EDDY_WS_BINARY, eddy_str(bytes, sizeof(bytes)), false);
	return r;
}

static int leave(struct eddy_ws *ws, void *data)
{
	(void)ws;
	(void)data;
	return 0;
}

/* So few at a time that the socket takes them when it sends itself. */
static int flood(struct eddy_ws_room *room, struct eddy_ws *ws)
{
	static const char bytes[1000];
	int r = 0;

	for (int i = 1; i < 20000 && r == 0; i++) {
		r = eddy_ws_room_send(room, EDDY_WS_BINARY, eddy_str(bytes, sizeof(bytes)));
		if (r == 0 && i % 30 == 0)
			r = eddy_ws_send(ws, EDDY_WS_TEXT, EDDY_STR("after"));
	}
	return r;
}

static int chat(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_room *room = data;
	struct eddy_ws_message message;
	int r = eddy_ws_room_join(room, ws);

	while (r >= 0 && (r = eddy_ws_recv(ws, &message)) > 0)
		r = eddy_str_eq_z(message.bytes, "flood") ?
			    flood(room, ws) :
			    eddy_ws_room_send(room, message.type, message.bytes);
	return r;
}

static struct eddy_ws_room *rooms[2000];

#define EACH(room) for (struct eddy_ws_room **room = rooms; room < rooms + 2000; room++)

static int join_many(struct eddy_ws *ws, void *data)
{
	static const char bytes[60000];
	int r = 0;

	(void)data;
	EACH(room)
	r = r < 0 ? r : eddy_ws_room_join(*room, ws);
	for (int i = 0; i < 200 && r == 0; i++)
		r = eddy_ws_send(ws, EDDY_WS_BINARY, eddy_str(bytes, sizeof(bytes)));
	EACH(room)
	r = r < 0 ? r : eddy_ws_room_send(*room, EDDY_WS_TEXT, EDDY_STR("x"));
	return r < 0 ? r : eddy_ws_send(ws, EDDY_WS_TEXT, EDDY_STR("after"));
}

static int send_without_end(struct eddy_ws *ws)
{
	static const char bytes[1000];
	int r = 0;

	while (r == 0)
		r = eddy_ws_send(ws, EDDY_WS_BINARY, eddy_str(bytes, sizeof(bytes)));
	return r;
}

/* Joins, and says so to all, before the response. */
static int join_early(struct eddy_req *req, struct eddy_res *res, struct eddy_ws *ws)
{
	struct eddy_ws_room *room = eddy_req_context(req);
	struct eddy_str query = eddy_req_query(req);
	struct eddy_ws_message message;
	int r = eddy_ws_room_join(room, ws);

	(void)res;
	if (r == 0)
		r = eddy_ws_room_send(room, EDDY_WS_TEXT, EDDY_STR("welcome"));
	if (eddy_str_eq_z(query, "close"))
		eddy_ws_close(ws, 4001, "early");
	else if (eddy_str_eq_z(query, "recv"))
		return eddy_ws_recv(ws, &message) == -EINVAL ? 403 : 500;
	else if (eddy_str_eq_z(query, "send"))
		return send_without_end(ws) == -ENOBUFS ? 403 : 500;
	else if (query.len)
		return 403;
	return r;
}

int main(int argc, char **argv)
{
	static const char *const protocols[] = { "echo", "other", NULL };
	struct sockets sockets = { .options = { .protocols = protocols } };
	struct eddy_app *app = eddy_app_new();
	struct eddy_ws_options options;
	struct eddy_ws_room *room;
	int r;

	settings_take(argc, argv, switches, &sockets, &sockets.common);
	eddy_log_text_subscribe();
	settings_apply(&sockets.common, app);
	options = sockets.options;
	room = eddy_ws_room_new(&sockets.room);
#ifndef EDDY_NO_TLS
	if (sockets.tls.cert)
		eddy_app_use_tls(app, &sockets.tls);
#endif
	eddy_app_map_ws(app, "/echo", echo, &options);
	eddy_app_map_ws(app, "/close", close_as_told, &options);
	eddy_app_map_ws(app, "/busy", echo_late, &options);
	eddy_app_map_ws(app, "/again", echo_once, &options);
	eddy_app_map_ws(app, "/endless", send_pieces_without_end, &options);
	eddy_app_map_ws(app, "/leaves", leave, &options);
	EACH(at)
	*at = eddy_ws_room_new(&sockets.room);
	eddy_app_map_ws(app, "/rooms", join_many, &options);
	options.parks = true;
	eddy_app_map_ws(app, "/half", send_half, &options);
	eddy_app_map_ws(app, "/parked", echo, &options);
	options.parks = false;
	options.data = room;
	eddy_app_map_ws(app, "/room", chat, &options);
	eddy_app_set_context(app, room);
	options.open = join_early;
	eddy_app_map_ws(app, "/early", chat, &options);
	options.open = NULL;
	options.streams = true;
	eddy_app_map_ws(app, "/pieces", echo_pieces, &options);
	r = eddy_app_run_blocking(app);
	eddy_ws_room_unref(room);
	EACH(at)
	eddy_ws_room_unref(*at);
	return r < 0;
}
