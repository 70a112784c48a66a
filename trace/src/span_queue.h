/* span_queue.h: finished spans that wait to be exported, as text, in batches.
 *
 * Any thread puts; one task takes. Invariants:
 * 1. `lock` guards all of it. It is held to copy a span, never to write one or to wait.
 * 2. A batch that was taken belongs to who took it, until it is given back or dropped.
 * 3. `ready` is made anew before each wait, and set with the lock held, once: while `awaited` says what for.
 */
#ifndef EDDYI_SPAN_QUEUE_H
#define EDDYI_SPAN_QUEUE_H

#include <eddy/otlp.h>
#include <eddy/shared_event.h>

/* Of one batch, its head and tail included, and of all that wait. */
#define EDDYI_BATCH_BYTES_MAX ((size_t)(512 * EDDY_KIB))
#define EDDYI_QUEUE_BYTES_MAX ((size_t)(4 * EDDY_MIB))

struct eddyi_span_batch {
	struct eddyi_span_batch *next;
	unsigned count;
	uint64_t began_ns; /* when its first span came */
	char *bytes;
	size_t len, capacity;
};

enum eddyi_span_awaited {
	EDDYI_AWAIT_NOTHING,
	EDDYI_AWAIT_ANY,  /* a first span */
	EDDYI_AWAIT_FULL, /* a batch that nothing more fits in */
};

struct eddyi_span_queue {
	pthread_mutex_t lock;
	struct eddyi_span_batch *first, *last;
	struct eddyi_span_batch *spare; /* the next one; NULL: none is kept */
	unsigned count;                 /* spans that wait */
	size_t bytes;
	unsigned batch_max, queue_max; /* spans */
	enum eddyi_span_awaited awaited;
	struct eddy_shared_event ready;
	const char *
		head; /* what stands before a batch's first span; borrowed, as its length is small */
	size_t head_len;
};

/* The limits are in spans, and at least 1. */
void eddyi_span_queue_init(struct eddyi_span_queue *queue, struct eddy_str head, unsigned batch_max,
			   unsigned queue_max);

/* Drop all that waits. Return: how many spans. */
unsigned eddyi_span_queue_deinit(struct eddyi_span_queue *queue);

/* Add a span, of EDDY_OTLP_SPAN_MAX bytes at most. Any thread; never suspends.
 * Return: whether there was room for it. */
bool eddyi_span_queue_put(struct eddyi_span_queue *queue, struct eddy_str span);

/* Wait for a batch that is full, or has a span that is `age_ns` old, and take it. Suspends.
 * Return: 0, -ECANCELED. */
int eddyi_span_queue_take(struct eddyi_span_queue *queue, uint64_t age_ns,
			  struct eddyi_span_batch **ret_batch);

/* Take the next one as it is. Never suspends. Return: NULL when there is none. */
struct eddyi_span_batch *eddyi_span_queue_take_now(struct eddyi_span_queue *queue);

/* The text of one that was taken, whole. */
struct eddy_str eddyi_span_batch_text(struct eddyi_span_batch *batch);

/* Give back what was taken and is done with. */
void eddyi_span_queue_done(struct eddyi_span_queue *queue, struct eddyi_span_batch *batch);

#endif
