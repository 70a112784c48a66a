#include "span_queue.h"

#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdlib.h>

#define TAIL EDDYI_OTLP_TAIL
#define TAIL_LEN (sizeof(TAIL) - 1)
#define FIRST_BYTES ((size_t)(32 * EDDY_KIB))

void eddyi_span_queue_init(struct eddyi_span_queue *queue, struct eddy_str head, unsigned batch_max,
			   unsigned queue_max)
{
	*queue = (struct eddyi_span_queue){
		.batch_max = batch_max,
		.queue_max = queue_max,
		.head = head.ptr,
		.head_len = head.len,
	};
	pthread_mutex_init(&queue->lock, NULL);
}

static void batch_free(struct eddyi_span_batch *batch)
{
	if (batch)
		free(batch->bytes);
	free(batch);
}

unsigned eddyi_span_queue_deinit(struct eddyi_span_queue *queue)
{
	struct eddyi_span_batch *batch;
	unsigned dropped = queue->count;

	while ((batch = queue->first)) {
		queue->first = batch->next;
		batch_free(batch);
	}
	batch_free(queue->spare);
	pthread_mutex_destroy(&queue->lock);
	return dropped;
}

/* ---- adding spans ---- */

static bool grow(struct eddyi_span_batch *batch, size_t size)
{
	size_t capacity = batch->capacity ? batch->capacity : FIRST_BYTES;
	char *bytes;

	while (capacity < size)
		capacity *= 2;
	if (capacity == batch->capacity)
		return true;
	bytes = realloc(batch->bytes, capacity);
	if (!bytes)
		return false;
	batch->bytes = bytes;
	batch->capacity = capacity;
	return true;
}

static struct eddyi_span_batch *batch_begin(struct eddyi_span_queue *queue)
{
	struct eddyi_span_batch *batch = queue->spare;

	queue->spare = NULL;
	if (!batch)
		batch = calloc(1, sizeof(*batch));
	if (!batch || !grow(batch, queue->head_len + EDDYI_OTLP_SPAN_MAX + TAIL_LEN)) {
		batch_free(batch);
		return NULL;
	}
	memcpy(batch->bytes, queue->head, queue->head_len);
	batch->len = queue->head_len;
	batch->count = 0;
	batch->next = NULL;
	batch->began_ns = eddy_now();
	if (queue->last)
		queue->last->next = batch;
	else
		queue->first = batch;
	queue->last = batch;
	return batch;
}

static bool has_room(const struct eddyi_span_queue *queue, const struct eddyi_span_batch *batch,
		     size_t len)
{
	return batch->count < queue->batch_max &&
	       batch->len + 1 + len + TAIL_LEN <= EDDYI_BATCH_BYTES_MAX;
}

static bool is_full(const struct eddyi_span_queue *queue, const struct eddyi_span_batch *batch)
{
	return batch->next || batch->count == queue->batch_max;
}

/* With the lock. */
static bool append(struct eddyi_span_queue *queue, struct eddy_str span)
{
	struct eddyi_span_batch *batch = queue->last;

	if (queue->count >= queue->queue_max || queue->bytes + span.len > EDDYI_QUEUE_BYTES_MAX)
		return false;
	if (!batch || !has_room(queue, batch, span.len))
		batch = batch_begin(queue);
	if (!batch || !grow(batch, batch->len + 1 + span.len + TAIL_LEN))
		return false;
	if (batch->count)
		batch->bytes[batch->len++] = ',';
	memcpy(batch->bytes + batch->len, span.ptr, span.len);
	batch->len += span.len;
	batch->count++;
	queue->count++;
	queue->bytes += span.len;
	return true;
}

bool eddyi_span_queue_put(struct eddyi_span_queue *queue, struct eddy_str span)
{
	bool there_is_room;

	pthread_mutex_lock(&queue->lock);
	there_is_room = append(queue, span);
	if (queue->first &&
	    (queue->awaited == EDDYI_AWAIT_ANY ||
	     (queue->awaited == EDDYI_AWAIT_FULL && is_full(queue, queue->first)))) {
		queue->awaited = EDDYI_AWAIT_NOTHING;
		eddy_shared_event_set(&queue->ready);
	}
	pthread_mutex_unlock(&queue->lock);
	return there_is_room;
}

/* ---- taking batches ---- */

/* With the lock. */
static struct eddyi_span_batch *shift(struct eddyi_span_queue *queue)
{
	struct eddyi_span_batch *batch = queue->first;

	if (!batch)
		return NULL;
	queue->first = batch->next;
	if (!queue->first)
		queue->last = NULL;
	queue->count -= batch->count;
	queue->bytes -= batch->len - queue->head_len - (batch->count ? batch->count - 1 : 0);
	return batch;
}

struct eddyi_span_batch *eddyi_span_queue_take_now(struct eddyi_span_queue *queue)
{
	struct eddyi_span_batch *batch;

	pthread_mutex_lock(&queue->lock);
	batch = shift(queue);
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

/* Take a batch that is full or old enough. Else set `*ret_wait_ns` to the time until it is old
 * enough, EDDY_NEVER if there is none. */
static struct eddyi_span_batch *look(struct eddyi_span_queue *queue, uint64_t age_ns,
				     uint64_t *ret_wait_ns)
{
	struct eddyi_span_batch *batch;
	uint64_t age;

	*ret_wait_ns = 0;
	pthread_mutex_lock(&queue->lock);
	batch = queue->first;
	age = batch ? eddy_now() - batch->began_ns : 0;
	if (batch && (is_full(queue, batch) || age >= age_ns)) {
		shift(queue);
	} else {
		*ret_wait_ns = batch ? age_ns - age : EDDY_NEVER;
		queue->awaited = batch ? EDDYI_AWAIT_FULL : EDDYI_AWAIT_ANY;
		eddy_shared_event_init(&queue->ready);
		batch = NULL;
	}
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

static void await(struct eddyi_span_queue *queue, uint64_t wait_ns)
{
	struct eddy_scope_options options = { .timeout_ns = wait_ns == EDDY_NEVER ? 0 : wait_ns };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &options);
	eddy_shared_event_wait(&queue->ready);
	eddy_scope_end(&scope);
	pthread_mutex_lock(&queue->lock);
	queue->awaited = EDDYI_AWAIT_NOTHING;
	pthread_mutex_unlock(&queue->lock);
}

int eddyi_span_queue_take(struct eddyi_span_queue *queue, uint64_t age_ns,
			  struct eddyi_span_batch **ret_batch)
{
	struct eddyi_span_batch *batch;
	uint64_t wait_ns;

	while (!eddy_is_cancelled()) {
		batch = look(queue, age_ns, &wait_ns);
		if (batch) {
			*ret_batch = batch;
			return 0;
		}
		await(queue, wait_ns);
	}
	return -ECANCELED;
}

struct eddy_str eddyi_span_batch_text(struct eddyi_span_batch *batch)
{
	/* append() has left room. */
	memcpy(batch->bytes + batch->len, TAIL, TAIL_LEN);
	return eddy_str(batch->bytes, batch->len + TAIL_LEN);
}

void eddyi_span_queue_done(struct eddyi_span_queue *queue, struct eddyi_span_batch *batch)
{
	pthread_mutex_lock(&queue->lock);
	if (!queue->spare) {
		queue->spare = batch;
		batch = NULL;
	}
	pthread_mutex_unlock(&queue->lock);
	batch_free(batch);
}
