/* cache.h: files as they were coded, to be sent again. */
#ifndef EDDYI_CACHE_H
#define EDDYI_CACHE_H

#include <eddy/list.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Bytes that are kept by default. */
#define EDDYI_CACHE_MAX ((uint64_t)(64 * EDDY_MIB))

/* Each takes a descriptor. */
#define EDDYI_CACHE_ENTRIES 256

/* One state of a file: what its strong etag is made of, the device, and the time of its last change (ctime), which
 * nobody can set: a copy that keeps times shows there. */
struct eddyi_cache_key {
	uint64_t dev, ino, size;
	int64_t sec, nsec;                 /* of its contents, as a program may say */
	int64_t changed_sec, changed_nsec; /* of anything, as the file system says */
	int coding;
};

/* A file that is coded, or being coded. */
struct eddyi_cached;

/* Invariants:
 * 1. `lock` guards all of it; nothing waits while it is held.
 * 2. `entries` begins with the one that was used last. `making` is the bytes of those that are being made, `size`
 *    that of the others; neither is above `size_max`.
 * 3. An entry is removed by who makes it, or once it is made.
 */
struct eddyi_cache {
	pthread_mutex_t lock;
	struct eddy_node entries;
	unsigned count;
	uint64_t size, making;
	uint64_t size_max; /* 0: nothing is kept */
};

void eddyi_cache_init(struct eddyi_cache *cache);

/* Nobody makes an entry any more. */
void eddyi_cache_deinit(struct eddyi_cache *cache);

/* The state of an open file that is coded so. Return: false when it had better not be kept: it is small, or so
 * new that it could change once more without showing it. */
bool eddyi_cache_key(int fd, int coding, struct eddyi_cache_key *ret_key);

/* Find a file. Return: 1, and a descriptor that belongs to the caller and the length; 0 when there is none. */
int eddyi_cache_find(struct eddyi_cache *cache, const struct eddyi_cache_key *key, int *ret_fd,
		     uint64_t *ret_len);

/* Begin to make an entry. Return: NULL when somebody else does already, or it can't be kept. */
struct eddyi_cached *eddyi_cache_begin(struct eddyi_cache *cache,
				       const struct eddyi_cache_key *key);

/* Add bytes. Return: false when they can't be kept: then it is given up. */
bool eddyi_cache_add(struct eddyi_cached *cached, const void *bytes, size_t len);

/* The end of it: keep what is `whole`, else give it up. */
void eddyi_cache_end(struct eddyi_cached *cached, bool whole);

#endif
