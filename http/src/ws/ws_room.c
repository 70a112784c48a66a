#include "ws_socket.h"

#include <eddy/list.h>
#include <eddy/loop.h>
#include <eddy/timer.h>
#include <eddy/ws_room.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define LAG_MAX ((size_t)EDDY_MIB)
/* Bytes that a loop has sent to its own members, until they are delivered at once. */
#define TOGETHER_MAX ((size_t)(64 * EDDY_KIB))
/* Smaller messages are not compressed. */
#define PACKED_MIN 64

/* A message on its way to the loops of a room, in a list that all branches walk. */
struct post {
	struct post *next;
	unsigned refs; /* branches that have not taken it */
	struct eddyi_ws_shared *plain;
	struct eddyi_ws_shared *packed; /* compressed; NULL: it is not */
};

/* The members of one loop. */
struct branch {
	struct branch *next;
	struct eddy_ws_room *room;
	struct eddy_loop *loop;
	struct eddy_node members; /* only its loop uses them */
	struct eddy_message message;
	struct eddy_timer turn; /* at the next turn of the loop; only the loop uses it */
	bool posted;            /* `message` is */
	struct post *first;     /* not taken; NULL: none */
	size_t len;             /* bytes from `first` on */
};

/* Invariants:
 * 1. A branch has members, or posts that it has not taken.
 * 2. While it has posts, either `message` is posted, by another loop, or `turn` is armed, or a sender on
 *    its loop is about to arm it or to deliver them. What one turn of the loop sends, members get by one
 *    call of the kernel. */
struct eddy_ws_room {
	pthread_mutex_t lock; /* of all but `options` */
	unsigned refs;        /* the program's, and one for each branch */
	size_t count;         /* of members */
	size_t packers;       /* members that take compressed messages */
	struct branch *branches;
	struct post *last; /* NULL: all are taken */
	struct eddy_ws_room_options options;
};

struct eddyi_ws_member {
	struct eddy_node node;        /* of the branch */
	struct eddyi_ws_member *next; /* of the socket */
	struct branch *branch;
	struct eddy_ws *ws;
};

struct eddy_ws_room *eddy_ws_room_new(const struct eddy_ws_room_options *options)
{
	struct eddy_ws_room *room = calloc(1, sizeof(*room));

	if (!room)
		return NULL;
	pthread_mutex_init(&room->lock, NULL);
	room->refs = 1;
	if (options)
		room->options = *options;
	if (!room->options.lag_max)
		room->options.lag_max = LAG_MAX;
	if (!room->options.level)
		room->options.level = 1;
	return room;
}

struct eddy_ws_room *eddy_ws_room_ref(struct eddy_ws_room *room)
{
	pthread_mutex_lock(&room->lock);
	room->refs++;
	pthread_mutex_unlock(&room->lock);
	return room;
}

void eddy_ws_room_unref(struct eddy_ws_room *room)
{
	unsigned left;

	if (!room)
		return;
	pthread_mutex_lock(&room->lock);
	left = --room->refs;
	pthread_mutex_unlock(&room->lock);
	if (left)
		return;
	pthread_mutex_destroy(&room->lock);
	free(room);
}

size_t eddy_ws_room_count(struct eddy_ws_room *room)
{
	size_t count;

	pthread_mutex_lock(&room->lock);
	count = room->count;
	pthread_mutex_unlock(&room->lock);
	return count;
}

/* ---- delivery ---- */

static void free_post(struct post *post)
{
	eddyi_ws_shared_unref(post->plain);
	if (post->packed)
		eddyi_ws_shared_unref(post->packed);
	free(post);
}

/* A branch has taken a post. */
static void unref_post(struct eddy_ws_room *room, struct post *post)
{
	bool unused;

	pthread_mutex_lock(&room->lock);
	unused = --post->refs == 0;
	if (unused && room->last == post)
		room->last = NULL;
	pthread_mutex_unlock(&room->lock);
	if (unused)
		free_post(post);
}

static void give(const struct branch *branch, struct post *const *posts, size_t count)
{
	const struct eddy_ws_room_options *options = &branch->room->options;

	for (struct eddy_node *node = branch->members.next; node != &branch->members;
	     node = node->next) {
		struct eddy_ws *ws = eddy_of(node, struct eddyi_ws_member, node)->ws;
		struct eddyi_ws_shared *shared[EDDYI_WS_SHARED_MAX];
		bool packs = eddyi_ws_shares_deflate(ws);
		int r;

		for (size_t i = 0; i < count; i++)
			shared[i] = packs && posts[i]->packed ? posts[i]->packed : posts[i]->plain;
		r = eddyi_ws_put_shared(ws, shared, count, options->lag_max);
		if (r == -ENOBUFS && !options->skips)
			eddy_ws_close(ws, EDDY_WS_TRY_LATER, "messages are read too slowly");
	}
}

/* Remove a branch of no use. On its loop. */
static void prune(struct branch *branch)
{
	struct eddy_ws_room *room = branch->room;
	struct branch **link = &room->branches;
	bool unused;

	pthread_mutex_lock(&room->lock);
	unused = !branch->first && branch->members.next == &branch->members;
	while (unused && *link != branch)
		link = &(*link)->next;
	if (unused)
		*link = branch->next;
	pthread_mutex_unlock(&room->lock);
	if (!unused)
		return;
	free(branch);
	eddy_ws_room_unref(room);
}

/* Give the members of a loop what has been sent. On that loop. */
static void take_posts(struct branch *branch)
{
	struct eddy_ws_room *room = branch->room;
	struct post *posts[EDDYI_WS_SHARED_MAX], *next, *last;
	size_t count = 0;

	eddy_timer_disarm(&branch->turn);
	pthread_mutex_lock(&room->lock);
	next = branch->first;
	last = room->last;
	branch->posted = false;
	branch->first = NULL;
	branch->len = 0;
	pthread_mutex_unlock(&room->lock);
	while (next) {
		posts[count++] = next;
		next = next == last ? NULL : next->next;
		if (next && count < EDDYI_WS_SHARED_MAX)
			continue;
		give(branch, posts, count);
		for (size_t i = 0; i < count; i++)
			unref_post(room, posts[i]);
		count = 0;
	}
	prune(branch);
}

static void delivered(struct eddy_message *message)
{
	take_posts(eddy_of(message, struct branch, message));
}

static void turned(struct eddy_timer *timer)
{
	take_posts(eddy_of(timer, struct branch, turn));
}

/* Deliver what this loop has sent: order among the calls of one loop is kept. */
static void flush(struct branch *branch)
{
	if (eddy_timer_is_armed(&branch->turn))
		take_posts(branch);
}

void eddyi_ws_flush_rooms(struct eddy_ws *ws)
{
	for (struct eddyi_ws_member *member = ws->rooms; member; member = member->next)
		flush(member->branch);
}

/* ---- sending ---- */

/* Compress a message. Return: NULL if it does not become smaller, or on failure. */
static struct eddyi_ws_shared *pack(const struct eddy_ws_room *room, enum eddy_ws_type type,
				    struct eddy_str bytes)
{
	static const struct eddyi_ws_side side = { false, EDDYI_WS_WINDOW_MAX };
	struct eddyi_ws_shared *shared = NULL;
	struct eddyi_ws_deflate deflate;
	struct eddyi_ws_buffer packed = { 0 };

	if (bytes.len < PACKED_MIN)
		return NULL;
	eddyi_ws_deflate_init(&deflate, &side, false, room->options.level);
	if (eddyi_ws_deflate_feed(&deflate, bytes, true, &packed, EDDY_NEVER) == 0 &&
	    packed.len < bytes.len)
		shared = eddyi_ws_shared_new(type, eddy_str(packed.bytes, packed.len), true);
	eddyi_ws_deflate_deinit(&deflate);
	eddyi_ws_buffer_deinit(&packed);
	return shared;
}

static struct post *make_post(struct eddy_ws_room *room, enum eddy_ws_type type,
			      struct eddy_str bytes, bool packs)
{
	struct post *post = calloc(1, sizeof(*post));

	if (!post)
		return NULL;
	post->plain = eddyi_ws_shared_new(type, bytes, false);
	if (!post->plain) {
		free(post);
		return NULL;
	}
	post->packed = packs ? pack(room, type, bytes) : NULL;
	return post;
}

/* Hand the post to all branches; the lock is held. `*ret_own` becomes that of this loop,
 * unless a message is posted to it. Return: 0, -ENOBUFS. */
static int hand_out(struct eddy_ws_room *room, struct post *post, struct branch **ret_own)
{
	struct eddy_loop *self = eddy_loop_self();

	*ret_own = NULL;
	for (struct branch *branch = room->branches; branch; branch = branch->next)
		if (branch->len > room->options.lag_max)
			return -ENOBUFS;
	if (!room->branches)
		return 0;
	if (room->last)
		room->last->next = post;
	room->last = post;
	for (struct branch *branch = room->branches; branch; branch = branch->next) {
		post->refs++;
		branch->len += post->plain->len;
		if (branch->loop == self && !branch->posted)
			*ret_own = branch;
		if (branch->first)
			continue;
		branch->first = post;
		if (branch->loop == self)
			continue;
		branch->posted = true;
		eddy_loop_post(branch->loop, &branch->message);
	}
	return 0;
}

int eddy_ws_room_send(struct eddy_ws_room *room, enum eddy_ws_type type, struct eddy_str bytes)
{
	struct branch *own;
	bool packs, unused, enough;
	struct post *post;
	size_t count;
	int r;

	if (!room)
		return -ENOMEM;
	pthread_mutex_lock(&room->lock);
	count = room->count;
	packs = room->packers;
	pthread_mutex_unlock(&room->lock);
	if (!count)
		return 0;
	post = make_post(room, type, bytes, packs);
	if (!post)
		return -ENOMEM;
	pthread_mutex_lock(&room->lock);
	r = hand_out(room, post, &own);
	unused = !post->refs;
	enough = own && (own->len > TOGETHER_MAX || own->len > room->options.lag_max);
	pthread_mutex_unlock(&room->lock);
	if (unused)
		free_post(post);
	else if (enough)
		take_posts(own);
	else if (own && !eddy_timer_is_armed(&own->turn))
		eddy_timer_arm(&own->turn, eddy_loop_now());
	return r;
}

/* ---- members ---- */

static struct eddyi_ws_member **find(struct eddy_ws *ws, const struct eddy_ws_room *room)
{
	struct eddyi_ws_member **link = &ws->rooms;

	while (*link && (*link)->branch->room != room)
		link = &(*link)->next;
	return link;
}

/* Get the branch of this loop. The lock is held. Return: NULL if there is none. */
static struct branch *branch_here(const struct eddy_ws_room *room)
{
	struct eddy_loop *self = eddy_loop_self();
	struct branch *branch = room->branches;

	while (branch && branch->loop != self)
		branch = branch->next;
	return branch;
}

/* Make a branch of this loop. The lock is held. Return: NULL on allocation failure. */
static struct branch *make_branch(struct eddy_ws_room *room)
{
	struct branch *branch = calloc(1, sizeof(*branch));

	if (!branch)
		return NULL;
	branch->room = room;
	branch->loop = eddy_loop_self();
	branch->message.deliver = delivered;
	branch->turn.fire = turned;
	eddy_list_init(&branch->members);
	branch->next = room->branches;
	room->branches = branch;
	room->refs++;
	return branch;
}

int eddy_ws_room_join(struct eddy_ws_room *room, struct eddy_ws *ws)
{
	struct eddyi_ws_member *member;
	struct branch *branch;

	if (!room)
		return -ENOMEM;
	if (ws->state != EDDYI_WS_OPEN || *find(ws, room))
		return 0;
	member = calloc(1, sizeof(*member));
	if (!member)
		return -ENOMEM;
	member->ws = ws;
	pthread_mutex_lock(&room->lock);
	branch = branch_here(room);
	pthread_mutex_unlock(&room->lock);
	/* Only this loop removes it. */
	if (branch)
		flush(branch);
	pthread_mutex_lock(&room->lock);
	branch = branch_here(room);
	member->branch = branch ? branch : make_branch(room);
	if (member->branch) {
		eddy_list_append(&member->branch->members, &member->node);
		room->count++;
		room->packers += eddyi_ws_shares_deflate(ws);
	}
	pthread_mutex_unlock(&room->lock);
	if (!member->branch) {
		free(member);
		return -ENOMEM;
	}
	member->next = ws->rooms;
	ws->rooms = member;
	return 0;
}

static void leave(struct eddyi_ws_member **link)
{
	struct eddyi_ws_member *member = *link;
	struct eddy_ws_room *room = member->branch->room;

	*link = member->next;
	pthread_mutex_lock(&room->lock);
	eddy_list_remove(&member->node);
	room->count--;
	room->packers -= eddyi_ws_shares_deflate(member->ws);
	pthread_mutex_unlock(&room->lock);
	prune(member->branch);
	free(member);
}

void eddy_ws_room_leave(struct eddy_ws_room *room, struct eddy_ws *ws)
{
	struct eddyi_ws_member **link = find(ws, room);

	if (!*link)
		return;
	flush((*link)->branch);
	leave(link);
}

void eddyi_ws_leave_rooms(struct eddy_ws *ws)
{
	while (ws->rooms)
		leave(&ws->rooms);
}
