#include "state.h"

#include <eddy/internal/loop.h>
#include <eddy/loop.h>
#include <stdlib.h>

struct eddyi_pool {
	struct eddyi_at_end at_end;
	struct eddyi_pooled *first;
	size_t size;
};

/* The pool of this thread's loop. */
static _Thread_local struct eddyi_pool *pool;

static void free_pool(struct eddyi_at_end *at_end)
{
	struct eddyi_pool *ended = (struct eddyi_pool *)at_end;

	pool = NULL;
	while (ended->first) {
		struct eddyi_pooled *pooled = ended->first;

		ended->first = pooled->next;
		pooled->end(pooled);
	}
	free(ended);
}

struct eddyi_pooled *eddyi_pool_take(const void *kind)
{
	if (!pool || !eddy_loop_self())
		return NULL;
	for (struct eddyi_pooled **at = &pool->first; *at; at = &(*at)->next) {
		struct eddyi_pooled *pooled = *at;

		if (pooled->kind == kind) {
			*at = pooled->next;
			pool->size -= pooled->size;
			return pooled;
		}
	}
	return NULL;
}

void *eddyi_pool_get(const void *kind, size_t size, void (*end)(struct eddyi_pooled *pooled))
{
	struct eddyi_pooled *pooled = eddyi_pool_take(kind);

	if (pooled)
		return pooled;
	pooled = calloc(1, size);
	if (pooled)
		*pooled = (struct eddyi_pooled){ .kind = kind, .end = end };
	return pooled;
}

static void end_oldest(void)
{
	struct eddyi_pooled **at = &pool->first, *oldest;

	while ((*at)->next)
		at = &(*at)->next;
	oldest = *at;
	*at = NULL;
	pool->size -= oldest->size;
	oldest->end(oldest);
}

void eddyi_pool_put(struct eddyi_pooled *pooled)
{
	if (!pool && eddy_loop_self()) {
		pool = calloc(1, sizeof(*pool));
		if (pool)
			eddyi_loop_at_end(&pool->at_end, free_pool);
	}
	if (!pool || !eddy_loop_self() || pooled->size > EDDYI_POOL_MAX) {
		pooled->end(pooled);
		return;
	}
	while (pooled->size > EDDYI_POOL_MAX - pool->size)
		end_oldest();
	pooled->next = pool->first;
	pool->first = pooled;
	pool->size += pooled->size;
}
