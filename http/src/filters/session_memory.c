#include "session_memory.h"

#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_LEN 32

struct eddyi_session_entry {
	struct eddy_node age;
	struct eddyi_session_entry *next; /* of the bucket */
	unsigned char key[KEY_LEN];
	uint64_t expires_ns;
	size_t len;
	char bytes[];
};

static size_t size_of(const struct eddyi_session_entry *entry)
{
	return sizeof(*entry) + entry->len;
}

int eddyi_session_memory_init(struct eddyi_session_memory *memory, size_t count_max,
			      size_t size_max)
{
	size_t buckets = 1;

	while (buckets < count_max)
		buckets *= 2;
	*memory = (struct eddyi_session_memory){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.buckets = calloc(buckets, sizeof(*memory->buckets)),
		.mask = buckets - 1,
		.count_max = count_max,
		.size_max = size_max,
	};
	eddy_list_init(&memory->oldest);
	return memory->buckets ? 0 : -ENOMEM;
}

/* The functions below are called with the lock held. */

/* Find what points to the entry of a key, or to the end of its chain. */
static struct eddyi_session_entry **find(struct eddyi_session_memory *memory, const void *key)
{
	struct eddyi_session_entry **at;
	uint64_t hash;

	memcpy(&hash, key, sizeof(hash));
	at = &memory->buckets[hash & memory->mask];
	while (*at && memcmp((*at)->key, key, KEY_LEN) != 0)
		at = &(*at)->next;
	return at;
}

static void drop(struct eddyi_session_memory *memory, struct eddyi_session_entry **at)
{
	struct eddyi_session_entry *entry = *at;

	*at = entry->next;
	eddy_list_remove(&entry->age);
	memory->count--;
	memory->size -= size_of(entry);
	free(entry);
}

/* Find the entry of a key that has not expired; NULL if there is none. */
static struct eddyi_session_entry *find_valid(struct eddyi_session_memory *memory, const void *key,
					      uint64_t now)
{
	struct eddyi_session_entry **at = find(memory, key);

	if (!*at || (*at)->expires_ns > now)
		return *at;
	drop(memory, at);
	return NULL;
}

/* Drop the oldest entries that have expired, and those beyond the limits with `more` bytes. */
static void make_room(struct eddyi_session_memory *memory, size_t more)
{
	uint64_t now = eddy_now();

	while (!eddy_list_is_empty(&memory->oldest)) {
		struct eddyi_session_entry *entry =
			eddy_of(memory->oldest.next, struct eddyi_session_entry, age);

		if (entry->expires_ns > now && memory->count < memory->count_max &&
		    memory->size + more <= memory->size_max)
			break;
		drop(memory, find(memory, entry->key));
	}
}

static void add(struct eddyi_session_memory *memory, struct eddyi_session_entry *entry)
{
	struct eddyi_session_entry **at = find(memory, entry->key);

	if (*at)
		drop(memory, at);
	make_room(memory, size_of(entry));
	at = find(memory, entry->key);
	entry->next = *at;
	*at = entry;
	eddy_list_append(&memory->oldest, &entry->age);
	memory->count++;
	memory->size += size_of(entry);
}

void eddyi_session_memory_deinit(void *arg)
{
	struct eddyi_session_memory *memory = arg;

	memory->count_max = 0;
	make_room(memory, 0);
	free(memory->buckets);
	pthread_mutex_destroy(&memory->lock);
}

/* ---- the store ---- */

static int load(void *data, struct eddy_req *req, struct eddy_str key, struct eddy_str *ret_bytes,
		uint64_t *ret_left_ns)
{
	struct eddyi_session_memory *memory = data;
	const struct eddyi_session_entry *entry;
	uint64_t now = eddy_now();
	char *bytes = NULL;
	int r = -ENOENT;

	pthread_mutex_lock(&memory->lock);
	entry = find_valid(memory, key.ptr, now);
	if (entry) {
		bytes = eddy_req_alloc(req, entry->len);
		r = bytes ? 0 : -ENOMEM;
	}
	if (bytes) {
		memcpy(bytes, entry->bytes, entry->len);
		*ret_bytes = eddy_str(bytes, entry->len);
		*ret_left_ns = entry->expires_ns - now;
	}
	pthread_mutex_unlock(&memory->lock);
	return r;
}

static int save(void *data, struct eddy_req *req, struct eddy_str key, struct eddy_str bytes,
		uint64_t lasts_ns, struct eddy_str old)
{
	struct eddyi_session_memory *memory = data;
	struct eddyi_session_entry *entry = malloc(sizeof(*entry) + bytes.len);
	int r = 0;

	(void)req;
	if (!entry)
		return -ENOMEM;
	*entry = (struct eddyi_session_entry){ .expires_ns = eddy_now() + lasts_ns,
					       .len = bytes.len };
	memcpy(entry->key, key.ptr, KEY_LEN);
	memcpy(entry->bytes, bytes.ptr, bytes.len);
	pthread_mutex_lock(&memory->lock);
	if (size_of(entry) > memory->size_max)
		r = -ENOSPC;
	else if (old.len && !find_valid(memory, old.ptr, eddy_now()))
		r = -ENOENT;
	if (r == 0 && old.len)
		drop(memory, find(memory, old.ptr));
	if (r == 0)
		add(memory, entry);
	pthread_mutex_unlock(&memory->lock);
	if (r < 0)
		free(entry);
	return r;
}

static int extend(void *data, struct eddy_req *req, struct eddy_str key, uint64_t lasts_ns)
{
	struct eddyi_session_memory *memory = data;
	struct eddyi_session_entry *entry;
	uint64_t now = eddy_now();

	(void)req;
	pthread_mutex_lock(&memory->lock);
	entry = find_valid(memory, key.ptr, now);
	if (entry) {
		entry->expires_ns = now + lasts_ns;
		eddy_list_remove(&entry->age);
		eddy_list_append(&memory->oldest, &entry->age);
	}
	pthread_mutex_unlock(&memory->lock);
	return 0;
}

static int remove_key(void *data, struct eddy_req *req, struct eddy_str key)
{
	struct eddyi_session_memory *memory = data;
	struct eddyi_session_entry **at;

	(void)req;
	pthread_mutex_lock(&memory->lock);
	at = find(memory, key.ptr);
	if (*at)
		drop(memory, at);
	pthread_mutex_unlock(&memory->lock);
	return 0;
}

const struct eddy_session_store eddyi_session_memory = { load, save, extend, remove_key };
