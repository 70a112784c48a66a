/* eddy/chan.h: a channel hands items of one size from task to task of one loop, in order.
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
 * Items are copied. A channel of capacity 0 holds none: a send waits until a receiver takes the item
 * from its hands. Senders are served in the order in which they came, and so are receivers. What has
 * been handed over counts, also when the task is cancelled before it runs: then the call returns 0,
 * and the next one -ECANCELED.
 *
 * What never suspends may be called from completion functions of the same loop.
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
	unsigned loop;              /* private: the loop that it belongs to; 0: none yet */
	size_t first;               /* private: where in the buffer the oldest item is */
	char *items;                /* private */
	struct eddy_node senders;   /* private */
	struct eddy_node receivers; /* private */
};

/* Make a channel whose buffer holds `capacity` items of `item_size` bytes; both may be 0.
 * Return: 0; -ENOMEM, never with capacity 0. */
EDDY_API int eddy_chan_init(struct eddy_chan *chan, size_t item_size, size_t capacity);

/* Free the buffer. Nobody may be waiting any more. Items that are left in it are forgotten: if they
 * own something, take them out by eddy_chan_try_recv() first. */
EDDY_API void eddy_chan_deinit(struct eddy_chan *chan);

/* Send a copy of the item. Suspends while the buffer is full; without one, until a receiver takes it.
 * Return: 0; -EPIPE when the channel is closed, also while this waits, or -ECANCELED: in both cases
 * nobody has received the item and it is still the caller's. */
EDDY_API int eddy_chan_send(struct eddy_chan *chan, const void *item, const char *where);

/* Receive the oldest item. Suspends while there is none.
 * Return: 0; -EPIPE when the channel is closed and every item has been received; -ECANCELED. */
EDDY_API int eddy_chan_recv(struct eddy_chan *chan, void *ret_item, const char *where);

/* Send if that needs no waiting. Never suspends. Return: 0, -EAGAIN, -EPIPE. */
EDDY_API int eddy_chan_try_send(struct eddy_chan *chan, const void *item, const char *where);

/* Receive if that needs no waiting. Never suspends. Return: 0, -EAGAIN, -EPIPE. */
EDDY_API int eddy_chan_try_recv(struct eddy_chan *chan, void *ret_item, const char *where);

/* Close the channel: sends fail, those that wait as well; what is in the buffer can still be received.
 * Does nothing when it is closed. Never suspends. */
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
