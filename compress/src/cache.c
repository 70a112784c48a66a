#include "cache.h"

#include <eddy/internal/outside.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Encoding less takes no longer than a look-up. */
#define SIZE_MIN 1024

/* A file may change twice within one timestamp: 2 s on FAT, a kernel tick elsewhere. */
#define SETTLED_NS (2 * EDDY_SECOND)
#define TICK_NS (20 * EDDY_MS)

struct eddyi_cached {
	struct eddy_node node;
	struct eddyi_cache *cache;
	struct eddyi_cache_key key;
	uint64_t len;
	int fd;
	bool made;
};

void eddyi_cache_init(struct eddyi_cache *cache)
{
	*cache = (struct eddyi_cache){ .size_max = EDDYI_CACHE_MAX };
	pthread_mutex_init(&cache->lock, NULL);
	eddy_list_init(&cache->entries);
}

static struct eddyi_cached *entry_of(struct eddy_node *node)
{
	return eddy_of(node, struct eddyi_cached, node);
}

/* With the lock. */
static void drop(struct eddyi_cache *cache, struct eddyi_cached *entry)
{
	eddy_list_remove(&entry->node);
	cache->count--;
	*(entry->made ? &cache->size : &cache->making) -= entry->len;
	eddyi_close_now(entry->fd);
	free(entry);
}

void eddyi_cache_deinit(struct eddyi_cache *cache)
{
	while (!eddy_list_is_empty(&cache->entries))
		drop(cache, entry_of(cache->entries.next));
	pthread_mutex_destroy(&cache->lock);
}

static uint64_t ns_of(const struct timespec *time)
{
	return time->tv_sec < 0 ? 0 :
				  (uint64_t)time->tv_sec * EDDY_SECOND + (uint64_t)time->tv_nsec;
}

bool eddyi_cache_key(int fd, int coding, struct eddyi_cache_key *ret_key)
{
	struct stat st;
	uint64_t now_ns;

	if (eddyi_fstat_now(fd, &st) < 0 || st.st_size < SIZE_MIN)
		return false;
	/* Padding must compare equal. */
	memset(ret_key, 0, sizeof(*ret_key));
	ret_key->dev = st.st_dev;
	ret_key->ino = st.st_ino;
	ret_key->size = (uint64_t)st.st_size;
	ret_key->sec = st.st_mtim.tv_sec;
	ret_key->nsec = st.st_mtim.tv_nsec;
	ret_key->changed_sec = st.st_ctim.tv_sec;
	ret_key->changed_nsec = st.st_ctim.tv_nsec;
	ret_key->coding = coding;
	now_ns = eddyi_clock(CLOCK_REALTIME_COARSE);
	return ns_of(&st.st_mtim) + SETTLED_NS <= now_ns && ns_of(&st.st_ctim) + TICK_NS <= now_ns;
}

/* With the lock. */
static struct eddyi_cached *find(struct eddyi_cache *cache, const struct eddyi_cache_key *key)
{
	for (struct eddy_node *node = cache->entries.next; node != &cache->entries;
	     node = node->next)
		if (memcmp(&entry_of(node)->key, key, sizeof(*key)) == 0)
			return entry_of(node);
	return NULL;
}

int eddyi_cache_find(struct eddyi_cache *cache, const struct eddyi_cache_key *key, int *ret_fd,
		     uint64_t *ret_len)
{
	struct eddyi_cached *entry;

	*ret_fd = -1;
	pthread_mutex_lock(&cache->lock);
	entry = find(cache, key);
	if (entry && entry->made) {
		*ret_fd = eddyi_fcntl_now(entry->fd, F_DUPFD_CLOEXEC, 0);
		*ret_len = entry->len;
		eddy_list_remove(&entry->node);
		eddy_list_prepend(&cache->entries, &entry->node);
	}
	pthread_mutex_unlock(&cache->lock);
	return *ret_fd >= 0;
}

/* Get the least recently used entry that is complete; NULL if there is none. With the lock. */
static struct eddyi_cached *oldest(struct eddyi_cache *cache)
{
	for (struct eddy_node *node = cache->entries.prev; node != &cache->entries;
	     node = node->prev)
		if (entry_of(node)->made)
			return entry_of(node);
	return NULL;
}

/* Evict least recently used entries until `len` bytes and `entries` entries fit. With the lock. */
static bool make_room(struct eddyi_cache *cache, uint64_t len, unsigned entries)
{
	while (cache->size + len > cache->size_max ||
	       cache->count + entries > EDDYI_CACHE_ENTRIES) {
		struct eddyi_cached *entry = oldest(cache);

		if (!entry)
			return false;
		drop(cache, entry);
	}
	return true;
}

struct eddyi_cached *eddyi_cache_begin(struct eddyi_cache *cache, const struct eddyi_cache_key *key)
{
	struct eddyi_cached *entry;

	if (key->size > cache->size_max)
		return NULL;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->cache = cache;
	entry->key = *key;
	entry->fd = eddyi_memfd_create_now("eddy-coded", MFD_CLOEXEC);
	pthread_mutex_lock(&cache->lock);
	if (!(entry->fd >= 0 && !find(cache, key) && make_room(cache, 0, 1))) {
		if (entry->fd >= 0)
			eddyi_close_now(entry->fd);
		free(entry);
		entry = NULL;
	} else {
		eddy_list_prepend(&cache->entries, &entry->node);
		cache->count++;
	}
	pthread_mutex_unlock(&cache->lock);
	return entry;
}

static void give_up(struct eddyi_cached *entry)
{
	struct eddyi_cache *cache = entry->cache;

	pthread_mutex_lock(&cache->lock);
	drop(cache, entry);
	pthread_mutex_unlock(&cache->lock);
}

/* Reserve room for bytes about to be added. Output longer than the file is not worth caching. */
static bool reserve(struct eddyi_cached *entry, size_t len)
{
	struct eddyi_cache *cache = entry->cache;
	bool fits;

	pthread_mutex_lock(&cache->lock);
	fits = entry->len + len <= entry->key.size && cache->making + len <= cache->size_max;
	if (fits) {
		entry->len += len;
		cache->making += len;
	}
	pthread_mutex_unlock(&cache->lock);
	return fits;
}

static bool write_all(int fd, const char *at, size_t len)
{
	while (len) {
		ssize_t written = eddyi_write_now(fd, at, len);

		if (written <= 0)
			return false;
		at += written;
		len -= (size_t)written;
	}
	return true;
}

bool eddyi_cache_add(struct eddyi_cached *entry, const void *bytes, size_t len)
{
	if (reserve(entry, len) && write_all(entry->fd, bytes, len))
		return true;
	give_up(entry);
	return false;
}

void eddyi_cache_end(struct eddyi_cached *entry, bool whole)
{
	struct eddyi_cache *cache = entry->cache;

	pthread_mutex_lock(&cache->lock);
	if (whole && make_room(cache, entry->len, 0)) {
		entry->made = true;
		cache->making -= entry->len;
		cache->size += entry->len;
	} else {
		drop(cache, entry);
	}
	pthread_mutex_unlock(&cache->lock);
}
