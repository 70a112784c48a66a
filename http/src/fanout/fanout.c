#include "fanout.h"

#include <eddy/internal/outside.h>
#include <eddy/list.h>
#include <errno.h>
#include <stdlib.h>

/* Receivers that are woken before the loop does something else. */
#define TURN_MAX 256

/* ---- posts ---- */

struct eddyi_post *eddyi_post_ref(struct eddyi_post *post)
{
	__atomic_add_fetch(&post->refs, 1, __ATOMIC_RELAXED);
	return post;
}

/* Not recursive: a list may be long. Posts are freed in their order, as each has a reference to the
 * next. */
void eddyi_post_unref(struct eddyi_fanout *fanout, struct eddyi_post *post)
{
	while (post && __atomic_sub_fetch(&post->refs, 1, __ATOMIC_ACQ_REL) == 0) {
		struct eddyi_post *next = post->next;

		if (next) {
			__atomic_store_n(&fanout->begin, next->begin, __ATOMIC_RELAXED);
			fanout->free_message(post->message);
		}
		free(post);
		post = next;
	}
}

int eddyi_fanout_send(struct eddyi_fanout *fanout, void *message, size_t len)
{
	struct eddyi_post *post = fanout->newest, *empty = malloc(sizeof(*empty));

	if (!empty)
		return -ENOMEM;
	*empty = (struct eddyi_post){ .refs = 1, .begin = fanout->end + len };
	post->message = message;
	fanout->newest = empty;
	fanout->kept++;
	__atomic_store_n(&fanout->end, empty->begin, __ATOMIC_RELAXED);
	__atomic_store_n(&post->next, empty, __ATOMIC_RELEASE);
	while (fanout->kept > fanout->kept_max ||
	       fanout->end - fanout->oldest->begin > fanout->kept_max_len) {
		post = fanout->oldest;
		fanout->oldest = eddyi_post_ref(post->next);
		fanout->kept--;
		eddyi_post_unref(fanout, post);
	}
	eddyi_fanout_wake(fanout);
	return 0;
}

size_t eddyi_fanout_held(const struct eddyi_fanout *fanout)
{
	return __atomic_load_n(&fanout->end, __ATOMIC_RELAXED) -
	       __atomic_load_n(&fanout->begin, __ATOMIC_RELAXED);
}

/* ---- the fan-out ---- */

void *eddyi_fanout_new(size_t size, void (*free_message)(void *message))
{
	struct eddyi_fanout *fanout = calloc(1, size);
	struct eddyi_post *empty = calloc(1, sizeof(*empty));

	if (!fanout || !empty) {
		free(fanout);
		free(empty);
		return NULL;
	}
	empty->refs = 1;
	fanout->oldest = fanout->newest = empty;
	fanout->free_message = free_message;
	fanout->refs = 1;
	pthread_mutex_init(&fanout->lock, NULL);
	eddy_list_init(&fanout->branches);
	return fanout;
}

void eddyi_fanout_ref(struct eddyi_fanout *fanout)
{
	__atomic_add_fetch(&fanout->refs, 1, __ATOMIC_RELAXED);
}

void eddyi_fanout_unref(struct eddyi_fanout *fanout)
{
	if (__atomic_sub_fetch(&fanout->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	eddyi_post_unref(fanout, fanout->oldest);
	pthread_mutex_destroy(&fanout->lock);
	free(fanout);
}

/* ---- branches ---- */

/* Free a branch, which `ended` receivers have left, unless it is in use. */
static void release(struct eddyi_branch *branch, unsigned ended)
{
	struct eddyi_fanout *fanout = branch->fanout;
	bool is_free;

	pthread_mutex_lock(&fanout->lock);
	branch->count -= ended;
	__atomic_sub_fetch(&fanout->count, ended, __ATOMIC_RELAXED);
	is_free = !branch->count && !branch->due && !branch->is_waking;
	if (is_free)
		eddy_list_remove(&branch->node);
	pthread_mutex_unlock(&fanout->lock);
	if (!is_free)
		return;
	eddy_timeout_queue_deinit(&branch->clock);
	free(branch);
	eddyi_fanout_unref(fanout);
}

static struct eddyi_receiver *first_of(const struct eddyi_branch *branch)
{
	return eddy_of(branch->receivers.next, struct eddyi_receiver, node);
}

static void wake_first(struct eddyi_branch *branch, unsigned count)
{
	branch->is_waking = true;
	while (count-- && !eddy_list_is_empty(&branch->receivers)) {
		struct eddyi_receiver *receiver = first_of(branch);

		eddy_list_remove(&receiver->node);
		eddy_list_append(&branch->receivers, &receiver->node);
		receiver->wake(receiver);
	}
	branch->is_waking = false;
	release(branch, 0);
}

static void deliver(struct eddy_message *message)
{
	struct eddyi_branch *branch = eddy_of(message, struct eddyi_branch, message);
	unsigned count;

	pthread_mutex_lock(&branch->fanout->lock);
	if (branch->due > branch->count)
		branch->due = branch->count;
	count = branch->due < TURN_MAX ? branch->due : TURN_MAX;
	branch->due -= count;
	if (branch->due)
		eddy_loop_post(branch->loop, message);
	pthread_mutex_unlock(&branch->fanout->lock);
	wake_first(branch, count);
}

void eddyi_fanout_wake(struct eddyi_fanout *fanout)
{
	struct eddy_node *all = &fanout->branches;

	for (struct eddy_node *node = all->next; node != all; node = node->next) {
		struct eddyi_branch *branch = eddy_of(node, struct eddyi_branch, node);

		if (branch->count && !branch->due)
			eddy_loop_post(branch->loop, &branch->message);
		if (branch->count)
			branch->due = branch->count;
	}
}

/* Find that of this loop. The lock is held. Return: NULL if there is none. */
static struct eddyi_branch *find_branch(struct eddyi_fanout *fanout)
{
	struct eddy_node *all = &fanout->branches, *node = all->next;
	struct eddy_loop *loop = eddy_loop_self();

	while (node != all && eddy_of(node, struct eddyi_branch, node)->loop != loop)
		node = node->next;
	return node != all ? eddy_of(node, struct eddyi_branch, node) : NULL;
}

/* Make one of this loop. The lock is held. Return: NULL on allocation failure. */
static struct eddyi_branch *make_branch(struct eddyi_fanout *fanout)
{
	struct eddyi_branch *branch = calloc(1, sizeof(*branch));

	if (!branch)
		return NULL;
	eddyi_fanout_ref(fanout);
	branch->fanout = fanout;
	branch->loop = eddy_loop_self();
	branch->message.deliver = deliver;
	eddy_list_init(&branch->receivers);
	eddy_timeout_queue_init(&branch->clock, fanout->timeout_ns);
	eddy_list_append(&fanout->branches, &branch->node);
	return branch;
}

void eddyi_fanout_flush(struct eddyi_fanout *fanout, size_t max)
{
	struct eddyi_branch *branch;

	pthread_mutex_lock(&fanout->lock);
	branch = find_branch(fanout);
	pthread_mutex_unlock(&fanout->lock);
	if (branch && branch->count && !branch->is_waking &&
	    eddyi_receiver_lag(first_of(branch)) > max)
		wake_first(branch, branch->count);
}

/* ---- receivers ---- */

int eddyi_receiver_begin(struct eddyi_receiver *receiver, struct eddyi_fanout *fanout,
			 struct eddyi_post *at)
{
	struct eddyi_branch *branch;

	pthread_mutex_lock(&fanout->lock);
	branch = find_branch(fanout);
	if (!branch)
		branch = make_branch(fanout);
	if (branch) {
		receiver->branch = branch;
		receiver->at = at ? at : eddyi_post_ref(fanout->newest);
		eddy_list_append(&branch->receivers, &receiver->node);
		branch->count++;
		__atomic_add_fetch(&fanout->count, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&fanout->lock);
	if (!branch)
		eddyi_post_unref(fanout, at);
	return branch ? 0 : -ENOMEM;
}

void eddyi_receiver_end(struct eddyi_receiver *receiver)
{
	eddy_list_remove(&receiver->node);
	eddyi_post_unref(receiver->branch->fanout, receiver->at);
	release(receiver->branch, 1);
}

void eddyi_receiver_flush(struct eddyi_receiver *receiver)
{
	struct eddyi_branch *branch = receiver->branch;

	if (branch->is_waking || !eddyi_receiver_next(receiver))
		return;
	eddy_list_remove(&receiver->node);
	eddy_list_prepend(&branch->receivers, &receiver->node);
	wake_first(branch, 1);
}

void eddyi_receiver_advance(struct eddyi_receiver *receiver, size_t count)
{
	struct eddyi_post *from = receiver->at;

	while (count--)
		receiver->at = eddyi_post_next(receiver->at);
	eddyi_post_ref(receiver->at);
	eddyi_post_unref(receiver->branch->fanout, from);
}

size_t eddyi_receiver_lag(const struct eddyi_receiver *receiver)
{
	return __atomic_load_n(&receiver->branch->fanout->end, __ATOMIC_RELAXED) -
	       receiver->at->begin;
}
