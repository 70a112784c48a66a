/* Invariants:
 * 1. `items` is a ring buffer of `capacity` items, `count` of them in use, starting at `first`.
 * 2. A sender waits only while the buffer is full, a receiver only while it is empty. Both wait at
 *    once only without a buffer, as two cases of one select.
 * 3. A closed channel has no waiters.
 */
#include <eddy/chan.h>

#include "core/own.h"
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int eddy_chan_init(struct eddy_chan *chan, size_t item_size, size_t capacity)
{
	char *items = NULL;
	size_t size;

	if (__builtin_mul_overflow(item_size, capacity, &size))
		return -ENOMEM;
	if (size) {
		items = malloc(size);
		if (!items)
			return -ENOMEM;
	}
	*chan = (struct eddy_chan){ .item_size = item_size, .capacity = capacity, .items = items };
	eddy_list_init(&chan->senders);
	eddy_list_init(&chan->receivers);
	return 0;
}

void eddyi_chan_deinit(struct eddy_chan *chan, const char *where)
{
	if (!chan->senders.next)
		return;
	eddyi_own(&chan->loop, "a channel", where);
	eddyi_assert_at(where,
			eddy_list_is_empty(&chan->senders) && eddy_list_is_empty(&chan->receivers),
			"a channel is deinitialised while a task waits for it");
	free(chan->items);
	chan->items = NULL;
}

EDDYI_WITHOUT_WHERE(chan_deinit, struct eddy_chan)

static void copy(const struct eddy_chan *chan, void *to, const void *from)
{
	/* With size 0 the pointers may be NULL. */
	if (chan->item_size)
		memcpy(to, from, chan->item_size);
}

static void *slot(const struct eddy_chan *chan, size_t at)
{
	if (!chan->item_size)
		return NULL;
	at += chan->first;
	if (at >= chan->capacity)
		at -= chan->capacity;
	return chan->items + at * chan->item_size;
}

static void put(struct eddy_chan *chan, const void *item)
{
	copy(chan, slot(chan, chan->count), item);
	chan->count++;
}

static void take(struct eddy_chan *chan, void *ret_item)
{
	copy(chan, ret_item, slot(chan, 0));
	chan->count--;
	if (++chan->first == chan->capacity)
		chan->first = 0;
}

static int try_send(struct eddy_chan *chan, const void *item)
{
	struct eddyi_entry *receiver = eddyi_queue_first(&chan->receivers);

	if (chan->closed)
		return -EPIPE;
	if (receiver) {
		copy(chan, receiver->item, item);
		eddyi_entry_serve(receiver, 0);
		return 0;
	}
	if (chan->count == chan->capacity)
		return -EAGAIN;
	put(chan, item);
	return 0;
}

static int try_recv(struct eddy_chan *chan, void *ret_item)
{
	struct eddyi_entry *sender = eddyi_queue_first(&chan->senders);

	if (chan->count) {
		take(chan, ret_item);
		if (sender)
			put(chan, sender->item);
	} else if (sender) {
		copy(chan, ret_item, sender->item);
	} else {
		return chan->closed ? -EPIPE : -EAGAIN;
	}
	if (sender)
		eddyi_entry_serve(sender, 0);
	return 0;
}

int(eddy_chan_try_send)(struct eddy_chan *chan, const void *item, const char *where)
{
	eddyi_own_made(&chan->loop, &chan->senders, "a channel", "eddy_chan_init", where);
	return try_send(chan, item);
}

int(eddy_chan_try_recv)(struct eddy_chan *chan, void *ret_item, const char *where)
{
	eddyi_own_made(&chan->loop, &chan->senders, "a channel", "eddy_chan_init", where);
	return try_recv(chan, ret_item);
}

/* Not inlined, which keeps the path without waiting fast. */
static __attribute__((noinline)) int wait_in(struct eddy_chan *chan, struct eddy_node *queue,
					     const char *what, void *item, const char *where)
{
	struct eddyi_queued queued = {
		.waiter = { .cancel = eddyi_queue_cancel, .what = what, .on = chan },
		.entry = { .item = item },
	};

	return eddyi_queue_wait(queue, &queued, where);
}

int(eddy_chan_send)(struct eddy_chan *chan, const void *item, const char *where)
{
	int r;

	eddyi_own_made(&chan->loop, &chan->senders, "a channel", "eddy_chan_init", where);
	if (eddy_is_cancelled())
		return -ECANCELED;
	r = try_send(chan, item);
	if (r != -EAGAIN)
		return r;
	return wait_in(chan, &chan->senders, "chan send", (void *)(uintptr_t)item, where);
}

int(eddy_chan_recv)(struct eddy_chan *chan, void *ret_item, const char *where)
{
	int r;

	eddyi_own_made(&chan->loop, &chan->senders, "a channel", "eddy_chan_init", where);
	if (eddy_is_cancelled())
		return -ECANCELED;
	r = try_recv(chan, ret_item);
	if (r != -EAGAIN)
		return r;
	return wait_in(chan, &chan->receivers, "chan recv", ret_item, where);
}

void eddyi_chan_close(struct eddy_chan *chan, const char *where)
{
	if (!chan->senders.next)
		return;
	eddyi_own(&chan->loop, "a channel", where);
	chan->closed = true;
	eddyi_queue_serve_all(&chan->senders, -EPIPE);
	eddyi_queue_serve_all(&chan->receivers, -EPIPE);
}

EDDYI_WITHOUT_WHERE(chan_close, struct eddy_chan)
