#include "ws_socket.h"

#include "fanout/fanout.h"

#include <eddy/internal/outside.h>
#include <eddy/list.h>
#include <eddy/ws_room.h>
#include <errno.h>
#include <stdlib.h>

#define LAG_MAX ((size_t)EDDY_MIB)
/* Bytes that the members of a loop have not taken, until its senders deliver them at once. */
#define TOGETHER_MAX ((size_t)(64 * EDDY_KIB))
/* Smaller messages are not compressed. */
#define PACKED_MIN 64

struct eddy_ws_room {
	struct eddyi_fanout fanout; /* of shared messages, to members */
	unsigned packers;           /* members that take compressed messages; changed atomically */
	struct eddy_ws_room_options options;
};

struct eddyi_ws_member {
	struct eddyi_receiver receiver;
	struct eddyi_ws_member *next; /* of the socket */
	struct eddy_ws *ws;
};

static void free_message(void *message)
{
	eddyi_ws_shared_unref(message);
}

struct eddy_ws_room *eddy_ws_room_new(const struct eddy_ws_room_options *options)
{
	struct eddy_ws_room *room = eddyi_fanout_new(sizeof(*room), free_message);

	if (!room)
		return NULL;
	if (options)
		room->options = *options;
	room->options.lag_max = room->options.lag_max ? room->options.lag_max : LAG_MAX;
	room->options.level = room->options.level ? room->options.level : 1;
	return room;
}

struct eddy_ws_room *eddy_ws_room_ref(struct eddy_ws_room *room)
{
	eddyi_fanout_ref(&room->fanout);
	return room;
}

void eddy_ws_room_unref(struct eddy_ws_room *room)
{
	if (room)
		eddyi_fanout_unref(&room->fanout);
}

size_t eddy_ws_room_count(struct eddy_ws_room *room)
{
	return __atomic_load_n(&room->fanout.count, __ATOMIC_RELAXED);
}

/* ---- sending ---- */

/* Compress a message. Return: NULL if it does not become smaller, or on failure. */
static struct eddyi_ws_shared *pack(const struct eddy_ws_room *room, struct eddyi_ws_frame frame,
				    struct eddy_str bytes)
{
	struct eddyi_ws_deflate deflate = {
		{ false, EDDYI_WS_WINDOW_MAX }, false, room->options.level, NULL
	};
	struct eddyi_ws_shared *shared = NULL;
	struct eddyi_ws_buffer packed = { 0 };

	if (bytes.len < PACKED_MIN)
		return NULL;
	frame.compressed = true;
	if (eddyi_ws_deflate_feed(&deflate, bytes, true, &packed, EDDY_NEVER) == 0 &&
	    packed.len < bytes.len) {
		frame.len = packed.len;
		shared = eddyi_ws_shared_new(&frame, packed.bytes);
	}
	eddyi_ws_deflate_deinit(&deflate);
	eddyi_ws_buffer_deinit(&packed);
	return shared;
}

int eddy_ws_room_send(struct eddy_ws_room *room, enum eddy_ws_type type, struct eddy_str bytes)
{
	struct eddyi_ws_frame frame = { .fin = true, .opcode = type, .len = bytes.len };
	struct eddyi_ws_shared *message;
	size_t max;
	int r;

	if (!room)
		return -ENOMEM;
	if (!eddy_ws_room_count(room))
		return 0;
	message = eddyi_ws_shared_new(&frame, bytes.ptr);
	if (!message)
		return -ENOMEM;
	if (__atomic_load_n(&room->packers, __ATOMIC_RELAXED))
		message->packed = pack(room, frame, bytes);
	max = room->options.lag_max;
	pthread_mutex_lock(&room->fanout.lock);
	r = eddyi_fanout_held(&room->fanout) > max ?
		    -ENOBUFS :
		    eddyi_fanout_send(&room->fanout, message, message->len);
	pthread_mutex_unlock(&room->fanout.lock);
	if (r < 0)
		eddyi_ws_shared_unref(message);
	else
		eddyi_fanout_flush(&room->fanout, max < TOGETHER_MAX ? max : TOGETHER_MAX);
	return r;
}

/* ---- members ---- */

static struct eddy_ws_room *room_of(const struct eddyi_ws_member *member)
{
	return eddy_of(member->receiver.branch->fanout, struct eddy_ws_room, fanout);
}

/* Send a member the messages that it has not taken. */
static void take(struct eddyi_receiver *receiver)
{
	struct eddyi_ws_member *member = eddy_of(receiver, struct eddyi_ws_member, receiver);
	const struct eddy_ws_room_options *options = &room_of(member)->options;
	struct eddy_ws *ws = member->ws;
	struct eddyi_ws_shared *shared[EDDYI_WS_SHARED_MAX];
	bool packs = eddyi_ws_shares_deflate(ws);

	while (eddyi_receiver_next(receiver)) {
		const struct eddyi_post *post = receiver->at, *next;
		size_t count = 0;
		int r = 0;

		while (count < EDDYI_WS_SHARED_MAX && (next = eddyi_post_next(post))) {
			struct eddyi_ws_shared *message = post->message;

			shared[count++] = packs && message->packed ? message->packed : message;
			post = next;
		}
		/* Nothing follows a close frame. */
		if (ws->state == EDDYI_WS_OPEN)
			r = eddyi_ws_output_share(&ws->output, shared, count, options->lag_max);
		eddyi_receiver_advance(receiver, count);
		if (r < 0 && (r != -ENOBUFS || !options->skips))
			eddy_ws_close(ws, EDDY_WS_TRY_LATER, "messages are read too slowly");
	}
}

void eddyi_ws_flush_rooms(struct eddy_ws *ws)
{
	/* A member that lags sends a close frame. */
	if (ws->flushes)
		return;
	ws->flushes = true;
	for (struct eddyi_ws_member *member = ws->rooms; member; member = member->next)
		eddyi_receiver_flush(&member->receiver);
	ws->flushes = false;
}

static struct eddyi_ws_member **find(struct eddy_ws *ws, const struct eddy_ws_room *room)
{
	struct eddyi_ws_member **link = &ws->rooms;

	while (*link && room_of(*link) != room)
		link = &(*link)->next;
	return link;
}

int eddy_ws_room_join(struct eddy_ws_room *room, struct eddy_ws *ws)
{
	struct eddyi_ws_member *member;

	if (!room)
		return -ENOMEM;
	if (ws->state != EDDYI_WS_OPEN || *find(ws, room))
		return 0;
	member = malloc(sizeof(*member));
	if (!member)
		return -ENOMEM;
	*member = (struct eddyi_ws_member){ { .wake = take }, ws->rooms, ws };
	if (eddyi_receiver_begin(&member->receiver, &room->fanout, NULL) < 0) {
		free(member);
		return -ENOMEM;
	}
	ws->rooms = member;
	__atomic_add_fetch(&room->packers, eddyi_ws_shares_deflate(ws), __ATOMIC_RELAXED);
	return 0;
}

static void leave(struct eddyi_ws_member **link)
{
	struct eddyi_ws_member *member = *link;
	struct eddy_ws_room *room = room_of(member);

	*link = member->next;
	__atomic_sub_fetch(&room->packers, eddyi_ws_shares_deflate(member->ws), __ATOMIC_RELAXED);
	eddyi_receiver_end(&member->receiver);
	free(member);
}

void eddy_ws_room_leave(struct eddy_ws_room *room, struct eddy_ws *ws)
{
	struct eddyi_ws_member **link = find(ws, room);

	if (!*link)
		return;
	eddyi_receiver_flush(&(*link)->receiver);
	leave(link);
}

void eddyi_ws_leave_rooms(struct eddy_ws *ws)
{
	while (ws->rooms)
		leave(&ws->rooms);
}
