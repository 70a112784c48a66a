/* eddy/ws_room.h: sends messages to many WebSockets, of any loop.
 *
 *     static int chat(struct eddy_ws *ws, void *data)
 *     {
 *             struct eddy_ws_room *room = data;
 *             struct eddy_ws_message message;
 *             int r = eddy_ws_room_join(room, ws);
 *
 *             while (r >= 0 && (r = eddy_ws_recv(ws, &message)) > 0)
 *                     r = eddy_ws_room_send(room, message.type, message.bytes);
 *             return r;
 *     }
 *
 * A message is framed once, and compressed once, for all members that take it. All members get the
 * messages of a room in the same order. A socket leaves its rooms when it ends. A room with one
 * member is a handle of that socket, which may outlive it: eddy_ws_room_count() is 0 then.
 */
#ifndef EDDY_WS_ROOM_H
#define EDDY_WS_ROOM_H

#include <eddy/ws.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

struct eddy_ws_room;

/* A zero field takes its default. */
struct eddy_ws_room_options {
	/* A member with more unsent bytes is too slow: it is closed with 1013. Default 1 MiB. */
	size_t lag_max;
	bool skips; /* instead, it misses messages until it has caught up */
	/* Of compression, for members with permessage-deflate without context takeover and with the
	 * largest window; others get messages as they are. 1 to 9; default 1. */
	int level;
};

/* Make a room. `options` may be NULL. Any thread may call it. Return: NULL on allocation
 * failure. */
EDDY_WEBSOCKET_API struct eddy_ws_room *
eddy_ws_room_new(const struct eddy_ws_room_options *options);

/* Use the room in one more place, which gives it up as well. Any thread may call it. Return:
 * `room`. */
EDDY_WEBSOCKET_API struct eddy_ws_room *eddy_ws_room_ref(struct eddy_ws_room *room);

/* Give up the room, which is freed once its last member has left. NULL: does nothing. */
EDDY_WEBSOCKET_API void eddy_ws_room_unref(struct eddy_ws_room *room);

/* Let a socket take the messages that are sent from now on; it may be in many rooms. On the
 * socket's loop, also in .open: messages then follow the handshake. Never suspends. Does nothing if
 * it is a member, or closed.
 * Return: 0; -ENOMEM, also if `room` is NULL. */
EDDY_WEBSOCKET_API int eddy_ws_room_join(struct eddy_ws_room *room, struct eddy_ws *ws);

/* Let it take no further messages. On the socket's loop. Never suspends. */
EDDY_WEBSOCKET_API void eddy_ws_room_leave(struct eddy_ws_room *room, struct eddy_ws *ws);

/* Send a message to all members. It is copied. Messages that follow soon may leave with it, by one
 * call of the kernel. Any thread may call it. Never suspends.
 * Return: 0, also without members; -ENOBUFS if a loop has not yet taken .lag_max bytes of earlier
 * messages, and then no member gets it; -ENOMEM, also if `room` is NULL. */
EDDY_WEBSOCKET_API int eddy_ws_room_send(struct eddy_ws_room *room, enum eddy_ws_type type,
					 struct eddy_str bytes);

/* Get the number of members. Any thread may call it. */
EDDY_WEBSOCKET_API size_t eddy_ws_room_count(struct eddy_ws_room *room);

EDDY_END_DECLS

#endif
