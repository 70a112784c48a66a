#include "verified.h"

#include "jwt/jwt.h"

#include <eddy/internal/loop.h>
#include <eddy/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/siphash.h>
#include <stdlib.h>

#define WAYS 4

/* Only the end of a token is hashed: part of its signature, which is unique. */
#define HASHED 64

/* Apps with a cache on one loop; a further app evicts the oldest. */
#define APPS_MAX 4

struct entry {
	struct eddy_jwt *token; /* NULL: free */
	uint64_t hash;
	uint64_t from_ns, until_ns; /* since 1970 */
	unsigned version;
	uint64_t asked; /* last use, on `clock` */
};

struct eddyi_verified {
	struct eddyi_verified *next;
	unsigned app;
	size_t sets; /* a power of 2 */
	uint64_t secret[2];
	uint64_t clock;
	struct entry entries[];
};

struct loop {
	struct eddyi_at_end at_end;
	struct eddyi_verified *first; /* the newest */
};

/* The current thread's loop. */
static _Thread_local struct loop *here;

static void verified_free(struct eddyi_verified *verified)
{
	for (size_t i = 0; i < verified->sets * WAYS; i++)
		eddy_jwt_unref(verified->entries[i].token);
	free(verified);
}

static void loop_ends(struct eddyi_at_end *at_end)
{
	struct loop *loop = (struct loop *)at_end;

	here = NULL;
	while (loop->first) {
		struct eddyi_verified *verified = loop->first;

		loop->first = verified->next;
		verified_free(verified);
	}
	free(loop);
}

static void free_oldest(struct loop *loop)
{
	struct eddyi_verified **at = &loop->first;
	unsigned count = 1;

	if (!*at)
		return;
	for (; (*at)->next; at = &(*at)->next)
		count++;
	if (count < APPS_MAX)
		return;
	verified_free(*at);
	*at = NULL;
}

static struct eddyi_verified *add(struct loop *loop, unsigned app, unsigned max)
{
	struct eddyi_verified *verified;
	size_t sets = 1;

	while (sets * WAYS < max)
		sets *= 2;
	verified = calloc(1, sizeof(*verified) + sets * WAYS * sizeof(struct entry));
	if (!verified)
		return NULL;
	if (eddyi_random(verified->secret, sizeof(verified->secret), GRND_NONBLOCK) < 0) {
		free(verified);
		return NULL;
	}
	free_oldest(loop);
	verified->app = app;
	verified->sets = sets;
	verified->next = loop->first;
	loop->first = verified;
	return verified;
}

struct eddyi_verified *eddyi_verified_here(unsigned app, unsigned max)
{
	struct eddyi_verified *verified;

	if (!here) {
		here = calloc(1, sizeof(*here));
		if (!here)
			return NULL;
		eddyi_loop_at_end(&here->at_end, loop_ends);
	}
	verified = here->first;
	while (verified && verified->app != app)
		verified = verified->next;
	return verified ? verified : add(here, app, max);
}

static uint64_t hash_of(const struct eddyi_verified *verified, struct eddy_str text)
{
	return eddyi_siphash(text.len > HASHED ? eddy_str_skip(text, text.len - HASHED) : text,
			     verified->secret);
}

/* Compare in constant time. */
static bool is_same(struct eddy_str a, struct eddy_str b)
{
	uint64_t differs = 0, x, y;
	size_t at = 0;

	if (a.len != b.len)
		return false;
	for (; a.len - at >= sizeof(x); at += sizeof(x)) {
		memcpy(&x, a.ptr + at, sizeof(x));
		memcpy(&y, b.ptr + at, sizeof(y));
		differs |= x ^ y;
	}
	for (; at < a.len; at++)
		differs |= (unsigned char)(a.ptr[at] ^ b.ptr[at]);
	return !differs;
}

static struct entry *set_of(struct eddyi_verified *verified, uint64_t hash)
{
	return &verified->entries[(hash & (verified->sets - 1)) * WAYS];
}

static bool has(const struct entry *entry, uint64_t hash, struct eddy_str text)
{
	return entry->token && entry->hash == hash && is_same(entry->token->text, text);
}

struct eddy_jwt *eddyi_verified_find(struct eddyi_verified *verified, struct eddy_str text,
				     uint64_t now_ns, unsigned *ret_version)
{
	uint64_t hash = hash_of(verified, text);
	struct entry *set = set_of(verified, hash);

	for (size_t i = 0; i < WAYS; i++) {
		if (!has(&set[i], hash, text))
			continue;
		if (now_ns < set[i].from_ns || now_ns >= set[i].until_ns)
			return NULL;
		*ret_version = set[i].version;
		set[i].asked = ++verified->clock;
		return eddy_jwt_ref(set[i].token);
	}
	return NULL;
}

void eddyi_verified_put(struct eddyi_verified *verified, struct eddy_jwt *token, uint64_t now_ns,
			unsigned version)
{
	struct eddy_str text = token->text;
	uint64_t hash = hash_of(verified, text);
	struct entry *set = set_of(verified, hash), *at = set;

	for (size_t i = 0; i < WAYS; i++) {
		if (has(&set[i], hash, text)) {
			at = &set[i];
			break;
		}
		if (set[i].asked < at->asked)
			at = &set[i];
	}
	eddy_jwt_unref(at->token);
	*at = (struct entry){
		.token = eddy_jwt_ref(token),
		.hash = hash,
		.from_ns = now_ns,
		.until_ns = eddyi_jwt_expires(token),
		.version = version,
		.asked = ++verified->clock,
	};
}
