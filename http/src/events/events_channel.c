#include "events_channel.h"

#include "events.h"

#include <eddy/internal/outside.h>
#include <eddy/list.h>
#include <eddy/loop.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define REPLAY_MAX 100
#define LAG_MAX ((size_t)EDDY_MIB)
/* Receivers that are woken before the loop does something else. */
#define TURN_MAX 256
/* A line that numbers a message. */
#define ID_MAX (sizeof("id: \n") + EDDY_U64_SIZE)
/* The line before a chunk. */
#define CHUNK_LINE_SIZE sizeof("ffffffffffffffff\r\n")

/* Invariants:
 * 1. `kept` messages follow `oldest`; the last of them is `newest`. Without any, both are the same.
 * 2. A branch is in the channel as long as it has receivers, or its message is posted.
 * 3. A receiver that is not due has been woken since the last message that its loop knows of. */
struct eddy_events_channel {
	unsigned refs; /* its owner's, and one a branch; changed atomically */
	struct eddy_events_channel_options options;
	pthread_mutex_t lock; /* for all that follows */
	struct eddyi_post *oldest, *newest;
	unsigned kept;
	uint64_t number; /* of the last message */
	uint64_t end;    /* that of `newest`; read without the lock */
	struct eddy_node branches;
	bool has_ended; /* read without the lock */
};

/* The receivers of one loop. */
struct eddyi_branch {
	struct eddy_node node;
	struct eddy_events_channel *channel;
	struct eddy_loop *loop;
	struct eddy_message message;
	bool is_posted; /* `message`, with the channel's lock */
	bool has_news;  /* all receivers are to be woken, with the channel's lock */
	bool is_waking;
	struct eddy_node receivers; /* the first `due` of them are woken next */
	unsigned count, due;
	struct eddy_timeout_queue clock;
};

/* ---- messages ---- */

static struct eddyi_post *next_of(const struct eddyi_post *post)
{
	return __atomic_load_n(&post->next, __ATOMIC_ACQUIRE);
}

static struct eddyi_post *ref(struct eddyi_post *post)
{
	__atomic_add_fetch(&post->refs, 1, __ATOMIC_RELAXED);
	return post;
}

/* Not recursive: a list may be long. */
void eddyi_post_unref(struct eddyi_post *post)
{
	while (post && __atomic_sub_fetch(&post->refs, 1, __ATOMIC_ACQ_REL) == 0) {
		struct eddyi_post *next = post->next;

		free(post);
		post = next;
	}
}

/* Return: NULL on allocation failure. */
static struct eddyi_post *make_post(size_t text_max)
{
	struct eddyi_post *post =
		malloc(sizeof(*post) + CHUNK_LINE_SIZE + text_max + sizeof("\r\n"));

	if (post)
		*post = (struct eddyi_post){ .refs = 1 };
	return post;
}

static void fill_post(struct eddyi_post *post, const struct eddy_events_message *message)
{
	char line[CHUNK_LINE_SIZE], *text = post->bytes + CHUNK_LINE_SIZE;
	size_t len = eddyi_events_format(message, text),
	       line_len = (size_t)snprintf(line, sizeof(line), "%zx\r\n", len);

	memcpy(text - line_len, line, line_len);
	memcpy(text + len, "\r\n", 2);
	post->text = eddy_str(text, len);
	post->chunk = eddy_str(text - line_len, line_len + len + 2);
	/* Its field is the first. */
	if (message->id.ptr)
		post->id = eddy_str(text + sizeof("id: ") - 1, message->id.len);
}

/* Forget messages beyond what is kept, with the lock. By bytes it is less than a receiver may lag, so that
 * one that gets all of it is not cut at the next message. */
static void trim(struct eddy_events_channel *channel)
{
	while (channel->kept > channel->options.replay_max ||
	       (channel->kept &&
		channel->end - channel->oldest->end > channel->options.lag_max / 2)) {
		struct eddyi_post *oldest = channel->oldest;

		channel->oldest = ref(next_of(oldest));
		channel->kept--;
		eddyi_post_unref(oldest);
	}
}

/* With the lock. */
static void append(struct eddy_events_channel *channel, struct eddyi_post *post)
{
	struct eddyi_post *before = channel->newest;

	post->end = channel->end + post->text.len;
	channel->newest = ref(post);
	channel->kept++;
	__atomic_store_n(&channel->end, post->end, __ATOMIC_RELAXED);
	__atomic_store_n(&before->next, post, __ATOMIC_RELEASE);
	eddyi_post_unref(before);
	trim(channel);
}

/* With the lock. */
static void post_message(struct eddyi_branch *branch)
{
	if (!branch->is_posted)
		eddy_loop_post(branch->loop, &branch->message);
	branch->is_posted = true;
}

/* With the lock. */
static void wake_all(struct eddy_events_channel *channel)
{
	struct eddy_node *all = &channel->branches, *node;

	for (node = all->next; node != all; node = node->next) {
		struct eddyi_branch *branch = eddy_of(node, struct eddyi_branch, node);

		branch->has_news = true;
		post_message(branch);
	}
}

int eddy_events_publish(struct eddy_events_channel *channel,
			const struct eddy_events_message *message)
{
	struct eddy_events_message numbered = *message;
	char number[EDDY_U64_SIZE];
	struct eddyi_post *post;

	if (!eddyi_events_is_valid(message))
		return -EINVAL;
	post = make_post(eddyi_events_format(message, NULL) + ID_MAX);
	if (!post)
		return -ENOMEM;
	pthread_mutex_lock(&channel->lock);
	channel->number++;
	if (!message->id.ptr && !channel->options.no_replay)
		numbered.id = eddy_str(number, eddy_u64_format(channel->number, number));
	fill_post(post, &numbered);
	append(channel, post);
	wake_all(channel);
	pthread_mutex_unlock(&channel->lock);
	return 0;
}

/* ---- the channel ---- */

struct eddy_events_channel *
eddy_events_channel_new(const struct eddy_events_channel_options *options)
{
	struct eddy_events_channel *channel = calloc(1, sizeof(*channel));
	struct eddyi_post *post = make_post(0);

	if (!channel || !post) {
		free(channel);
		free(post);
		return NULL;
	}
	channel->refs = 1;
	if (options)
		channel->options = *options;
	if (channel->options.no_replay)
		channel->options.replay_max = 0;
	else if (!channel->options.replay_max)
		channel->options.replay_max = REPLAY_MAX;
	if (!channel->options.lag_max)
		channel->options.lag_max = LAG_MAX;
	if (!channel->options.comment_ns)
		channel->options.comment_ns = EDDYI_EVENTS_COMMENT_NS;
	pthread_mutex_init(&channel->lock, NULL);
	channel->oldest = post;
	channel->newest = ref(post);
	/* Ids of an earlier process are lower than all of this one. */
	channel->number = eddyi_clock(CLOCK_REALTIME) / EDDY_MS * 1000;
	eddy_list_init(&channel->branches);
	return channel;
}

static void unref_channel(struct eddy_events_channel *channel)
{
	if (__atomic_sub_fetch(&channel->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	eddyi_post_unref(channel->oldest);
	eddyi_post_unref(channel->newest);
	pthread_mutex_destroy(&channel->lock);
	free(channel);
}

void eddy_events_channel_free(struct eddy_events_channel *channel)
{
	if (!channel)
		return;
	pthread_mutex_lock(&channel->lock);
	__atomic_store_n(&channel->has_ended, true, __ATOMIC_RELEASE);
	wake_all(channel);
	pthread_mutex_unlock(&channel->lock);
	unref_channel(channel);
}

uint64_t eddyi_channel_comment_ns(const struct eddy_events_channel *channel)
{
	return channel->options.comment_ns;
}

/* ---- branches ---- */

/* Free a branch without receivers, unless it is in use. */
static void release(struct eddyi_branch *branch)
{
	struct eddy_events_channel *channel = branch->channel;
	bool is_free;

	pthread_mutex_lock(&channel->lock);
	is_free = !branch->count && !branch->is_waking && !branch->is_posted;
	if (is_free)
		eddy_list_remove(&branch->node);
	pthread_mutex_unlock(&channel->lock);
	if (!is_free)
		return;
	eddy_timeout_queue_deinit(&branch->clock);
	free(branch);
	unref_channel(channel);
}

/* On the branch's loop: wake the receivers, or some of many. */
static void deliver(struct eddy_message *message)
{
	struct eddyi_branch *branch = eddy_of(message, struct eddyi_branch, message);
	struct eddy_events_channel *channel = branch->channel;

	pthread_mutex_lock(&channel->lock);
	branch->is_posted = false;
	if (branch->has_news)
		branch->due = branch->count;
	branch->has_news = false;
	pthread_mutex_unlock(&channel->lock);
	branch->is_waking = true;
	for (int i = 0; i < TURN_MAX && branch->due && branch->count; i++, branch->due--) {
		struct eddy_node *node = eddy_list_shift(&branch->receivers);
		struct eddyi_receiver *receiver = eddy_of(node, struct eddyi_receiver, node);

		eddy_list_append(&branch->receivers, node);
		receiver->wake(receiver);
	}
	branch->is_waking = false;
	pthread_mutex_lock(&channel->lock);
	if (branch->due && branch->count)
		post_message(branch);
	pthread_mutex_unlock(&channel->lock);
	release(branch);
}

/* Get that of this loop, with the lock. Return: NULL on allocation failure. */
static struct eddyi_branch *find_branch(struct eddy_events_channel *channel)
{
	struct eddy_loop *loop = eddy_loop_self();
	struct eddyi_branch *branch;

	for (struct eddy_node *node = channel->branches.next; node != &channel->branches;
	     node = node->next) {
		branch = eddy_of(node, struct eddyi_branch, node);
		if (branch->loop == loop)
			return branch;
	}
	branch = calloc(1, sizeof(*branch));
	if (!branch)
		return NULL;
	__atomic_add_fetch(&channel->refs, 1, __ATOMIC_RELAXED);
	branch->channel = channel;
	branch->loop = loop;
	branch->message.deliver = deliver;
	eddy_list_init(&branch->receivers);
	eddy_timeout_queue_init(&branch->clock, channel->options.comment_ns);
	eddy_list_append(&channel->branches, &branch->node);
	return branch;
}

/* ---- receivers ---- */

struct eddyi_post *eddyi_channel_find(struct eddy_events_channel *channel, struct eddy_str last_id)
{
	struct eddyi_post *post;

	pthread_mutex_lock(&channel->lock);
	post = last_id.len || channel->options.greets ? channel->oldest : channel->newest;
	for (struct eddyi_post *at = last_id.len ? post : NULL; at; at = next_of(at))
		if (at->id.ptr && eddy_str_eq(at->id, last_id))
			post = at;
	ref(post);
	pthread_mutex_unlock(&channel->lock);
	return post;
}

int eddyi_receiver_begin(struct eddyi_receiver *receiver, struct eddy_events_channel *channel,
			 struct eddyi_post *last)
{
	struct eddyi_branch *branch;

	pthread_mutex_lock(&channel->lock);
	branch = find_branch(channel);
	if (branch) {
		receiver->branch = branch;
		receiver->last = last;
		eddy_list_append(&branch->receivers, &receiver->node);
		branch->count++;
	}
	pthread_mutex_unlock(&channel->lock);
	if (!branch)
		eddyi_post_unref(last);
	return branch ? 0 : -ENOMEM;
}

void eddyi_receiver_end(struct eddyi_receiver *receiver)
{
	eddy_list_remove(&receiver->node);
	receiver->branch->count--;
	eddyi_post_unref(receiver->last);
	release(receiver->branch);
}

struct eddyi_post *eddyi_receiver_next(const struct eddyi_receiver *receiver)
{
	return next_of(receiver->last);
}

void eddyi_receiver_advance(struct eddyi_receiver *receiver)
{
	struct eddyi_post *last = receiver->last;

	receiver->last = ref(next_of(last));
	eddyi_post_unref(last);
}

bool eddyi_receiver_lags(const struct eddyi_receiver *receiver)
{
	const struct eddy_events_channel *channel = receiver->branch->channel;

	return __atomic_load_n(&channel->end, __ATOMIC_RELAXED) - receiver->last->end >
	       channel->options.lag_max;
}

bool eddyi_receiver_has_ended(const struct eddyi_receiver *receiver)
{
	return __atomic_load_n(&receiver->branch->channel->has_ended, __ATOMIC_ACQUIRE);
}

struct eddy_timeout_queue *eddyi_receiver_clock(const struct eddyi_receiver *receiver)
{
	struct eddy_timeout_queue *clock = &receiver->branch->clock;

	return clock->duration_ns == EDDY_NEVER ? NULL : clock;
}
