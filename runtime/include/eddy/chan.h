/* eddy/chan.h: a channel (bounded queue) of items of one size, between tasks of one loop.
 *
 *     struct eddy_chan lines;
 *     struct line line;
 *     int r = eddy_chan_init(&lines, sizeof(line), 16);
 *
 *     while (eddy_chan_recv(&lines, &line) == 0)       // one task
 *             print(&line);
 *
 *     while (next_line(&line))                         // another
 *             eddy_chan_send(&lines, &line);
 *     eddy_chan_close(&lines);
 *
 * Items are copied, and received in the order in which they were sent. A channel of capacity 0 has
 * no buffer: a send waits until a receiver takes the item. Senders are served in the order in which
 * they came, and so are receivers. If a task is cancelled after its item was transferred, the call
 * returns 0 and the next call returns -ECANCELED.
 *
 * Completion functions (eddy/op.h) of the same loop may call the functions that never suspend.
 */
#ifndef EDDY_CHAN_H
#define EDDY_CHAN_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_chan {
	size_t item_size;           /* read-only */
	size_t capacity;            /* read-only */
	size_t count;               /* read-only: items in the buffer */
	bool closed;                /* read-only */
	unsigned loop;              /* private: the owning loop; 0 before the first use */
	size_t first;               /* private: index of the oldest item */
	char *items;                /* private */
	struct eddy_node senders;   /* private */
	struct eddy_node receivers; /* private */
};

/* Make a channel that buffers `capacity` items of `item_size` bytes. Both may be 0. Return: 0;
 * -ENOMEM, never with capacity 0. */
EDDY_API int eddy_chan_init(struct eddy_chan *chan, size_t item_size, size_t capacity);

/* Free the buffer of a channel. No task may be waiting any more. Items in it are discarded: if they
 * own something, receive them with eddy_chan_try_recv() first. */
EDDY_API void eddy_chan_deinit(struct eddy_chan *chan);

/* Send a copy of `item`. Suspends while the buffer is full; with capacity 0, until a task takes it.
 * Return: 0; -EPIPE if the channel is closed, also while this waits; -ECANCELED. On failure no task
 * has received the item, and the caller still owns it. */
EDDY_API int eddy_chan_send(struct eddy_chan *chan, const void *item, const char *where);

/* Receive the oldest item. Suspends while there is none.
 * Return: 0; -EPIPE if the channel is closed and every item has been received; -ECANCELED. */
EDDY_API int eddy_chan_recv(struct eddy_chan *chan, void *ret_item, const char *where);

/* Send a copy of `item` if that needs no waiting. Never suspends. Return: 0; -EAGAIN; -EPIPE. */
EDDY_API int eddy_chan_try_send(struct eddy_chan *chan, const void *item, const char *where);

/* Receive the oldest item if there is one. Never suspends. Return: 0; -EAGAIN; -EPIPE. */
EDDY_API int eddy_chan_try_recv(struct eddy_chan *chan, void *ret_item, const char *where);

/* Close the channel. Never suspends. Sends fail, waiting ones included; buffered items can still be
 * received. Does nothing if it is closed. */
EDDY_API void eddy_chan_close(struct eddy_chan *chan);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_chan_deinit(struct eddy_chan *chan, const char *where);
EDDY_API void eddyi_chan_close(struct eddy_chan *chan, const char *where);
#define eddy_chan_deinit(...) eddyi_chan_deinit(__VA_ARGS__, EDDY_HERE)
#define eddy_chan_send(...) eddy_chan_send(__VA_ARGS__, EDDY_HERE)
#define eddy_chan_recv(...) eddy_chan_recv(__VA_ARGS__, EDDY_HERE)
#define eddy_chan_try_send(...) eddy_chan_try_send(__VA_ARGS__, EDDY_HERE)
#define eddy_chan_try_recv(...) eddy_chan_try_recv(__VA_ARGS__, EDDY_HERE)
#define eddy_chan_close(...) eddyi_chan_close(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
