/* cache.h: a cache of encoded files. */
#ifndef EDDYI_CACHE_H
#define EDDYI_CACHE_H

#include <eddy/list.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Default limit in bytes. */
#define EDDYI_CACHE_MAX ((uint64_t)(64 * EDDY_MIB))

/* The most entries; each has a descriptor. */
#define EDDYI_CACHE_ENTRIES 256

/* The state of a file: the parts of its strong etag, the device, and ctime, which no program can
 * set and so reveals copies that preserve times. */
struct eddyi_cache_key {
	uint64_t dev, ino, size;
	int64_t sec, nsec;                 /* mtime */
	int64_t changed_sec, changed_nsec; /* ctime */
	int coding;
};

/* An encoded file, or one being encoded. */
struct eddyi_cached;

/* Invariants:
 * 1. `lock` guards everything. Nothing waits while holding it.
 * 2. `entries` begins with the most recently used. `making` is the bytes of incomplete entries,
 *    `size` of complete ones; neither exceeds `size_max`.
 * 3. An entry is removed by its maker, or after it is complete.
 */
struct eddyi_cache {
	pthread_mutex_t lock;
	struct eddy_node entries;
	unsigned count;
	uint64_t size, making;
	uint64_t size_max; /* 0: no cache */
};

void eddyi_cache_init(struct eddyi_cache *cache);

/* Drop all entries; none may be incomplete. */
void eddyi_cache_deinit(struct eddyi_cache *cache);

/* Get the key of an open file for a coding. Return: false if it should not be cached: it is small,
 * or so new that another change might not show. */
bool eddyi_cache_key(int fd, int coding, struct eddyi_cache_key *ret_key);

/* Find a file. Return: 1, a descriptor that the caller owns, and the length; 0 if there is none. */
int eddyi_cache_find(struct eddyi_cache *cache, const struct eddyi_cache_key *key, int *ret_fd,
		     uint64_t *ret_len);

/* Begin an entry. Return: NULL if it is being made already, or cannot be cached. */
struct eddyi_cached *eddyi_cache_begin(struct eddyi_cache *cache,
				       const struct eddyi_cache_key *key);

/* Add bytes. Return: false if they cannot be cached; the entry is then dropped. */
bool eddyi_cache_add(struct eddyi_cached *cached, const void *bytes, size_t len);

/* End an entry: keep it if it is `whole`, else drop it. */
void eddyi_cache_end(struct eddyi_cached *cached, bool whole);

#endif
