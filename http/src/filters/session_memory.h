/* session_memory.h: sessions in the memory of the process. */
#ifndef EDDYI_SESSION_MEMORY_H
#define EDDYI_SESSION_MEMORY_H

#include <eddy/list.h>
#include <eddy/session.h>
#include <pthread.h>

struct eddyi_session_entry;

/* A table by key and a list by age, guarded by one lock.
 *
 * Invariants:
 * 1. Each entry is in the list, the one saved or extended longest ago first, and in the chain of its bucket.
 * 2. There are at most `count_max` entries, of at most `size_max` bytes.
 * 3. Keys are hashes of ids that the server has drawn: their first bytes select the bucket. */
struct eddyi_session_memory {
	pthread_mutex_t lock;
	struct eddyi_session_entry **buckets;
	size_t mask;
	struct eddy_node oldest;
	size_t count, count_max;
	size_t size, size_max;
};

/* The store; its data is a struct eddyi_session_memory. */
extern const struct eddy_session_store eddyi_session_memory;

/* Return: 0, -ENOMEM. */
int eddyi_session_memory_init(struct eddyi_session_memory *memory, size_t count_max,
			      size_t size_max);

/* `arg` is a struct eddyi_session_memory. */
void eddyi_session_memory_deinit(void *arg);

#endif
