/* span_queue.h: a queue of finished spans as text, in batches, for the exporter.
 *
 * Any thread adds spans; one task takes batches. Invariants:
 * 1. `lock` guards everything. It is held to copy a span, never to format one or to wait.
 * 2. A batch that was taken belongs to its taker until it is given back.
 * 3. `ready` is initialized before each wait, and set once, with the lock held, while `awaited`
 *    says for what.
 */
#ifndef EDDYI_SPAN_QUEUE_H
#define EDDYI_SPAN_QUEUE_H

#include "otlp.h"

#include <eddy/shared_event.h>

/* Limits of a batch, with head and tail, and of all waiting spans. */
#define EDDYI_BATCH_BYTES_MAX ((size_t)(512 * EDDY_KIB))
#define EDDYI_QUEUE_BYTES_MAX ((size_t)(4 * EDDY_MIB))

struct eddyi_span_batch {
	struct eddyi_span_batch *next;
	unsigned count;
	uint64_t began_ns; /* when its first span was added */
	char *bytes;
	size_t len, capacity;
};

enum eddyi_span_awaited {
	EDDYI_AWAIT_NOTHING,
	EDDYI_AWAIT_ANY,  /* any span */
	EDDYI_AWAIT_FULL, /* a full batch */
};

struct eddyi_span_queue {
	pthread_mutex_t lock;
	struct eddyi_span_batch *first, *last;
	struct eddyi_span_batch *spare; /* reused for the next; NULL: none */
	unsigned count;
	size_t bytes;
	unsigned batch_max, queue_max; /* spans */
	enum eddyi_span_awaited awaited;
	struct eddy_shared_event ready;
	const char *head; /* text before the first span; borrowed */
	size_t head_len;
};

/* Initialize a queue. Limits are in spans, and at least 1. */
void eddyi_span_queue_init(struct eddyi_span_queue *queue, struct eddy_str head, unsigned batch_max,
			   unsigned queue_max);

/* Drop all spans. Return: their number. */
unsigned eddyi_span_queue_deinit(struct eddyi_span_queue *queue);

/* Add a span of at most EDDYI_OTLP_SPAN_MAX bytes. Any thread may call it. Never suspends. Return:
 * whether it fit. */
bool eddyi_span_queue_put(struct eddyi_span_queue *queue, struct eddy_str span);

/* Take a batch when it is full, or has a span of age `age_ns`. Suspends. Return: 0, -ECANCELED. */
int eddyi_span_queue_take(struct eddyi_span_queue *queue, uint64_t age_ns,
			  struct eddyi_span_batch **ret_batch);

/* Take the next batch as it is. Never suspends. Return: NULL if there is none. */
struct eddyi_span_batch *eddyi_span_queue_take_now(struct eddyi_span_queue *queue);

/* Get the complete text of a taken batch. */
struct eddy_str eddyi_span_batch_text(struct eddyi_span_batch *batch);

/* Give back a taken batch. */
void eddyi_span_queue_done(struct eddyi_span_queue *queue, struct eddyi_span_batch *batch);

#endif
