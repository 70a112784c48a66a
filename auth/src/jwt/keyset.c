#include "keyset.h"

#include "json.h"
#include "jwk.h"

#include <errno.h>
#include <stdlib.h>

struct eddy_keyset {
	atomic_uint refs;
	size_t count, skipped;
	bool is_of_one;
	struct eddy_jwk *keys[];
};

static struct eddy_keyset *new_set(size_t count_max)
{
	struct eddy_keyset *set = calloc(1, sizeof(*set) + count_max * sizeof(set->keys[0]));

	if (set)
		atomic_init(&set->refs, 1);
	return set;
}

static void unref_it(struct eddy_keyset **set)
{
	eddy_keyset_unref(*set);
}

static int read_keys(const json_t *keys, struct eddy_keyset **ret_set)
{
	size_t count = json_array_size(keys);
	size_t count_max = count < EDDY_KEYSET_MAX ? count : EDDY_KEYSET_MAX;
	EDDY_AUTO(unref_it)
	struct eddy_keyset *set = new_set(count_max);

	if (!set)
		return -ENOMEM;
	for (size_t i = 0; i < count_max; i++) {
		int r = eddyi_jwk_read(json_array_get(keys, i), true, &set->keys[set->count]);

		if (r == -ENOMEM)
			return r;
		set->count += r == 0;
	}
	set->skipped = count - set->count;
	if (!set->count)
		return -ENOKEY;
	*ret_set = set;
	set = NULL;
	return 0;
}

int eddy_keyset_parse(struct eddy_str text, struct eddy_keyset **ret_set)
{
	const json_t *keys;
	json_t *json;
	int r = eddyi_auth_json_parse(text, &json);

	if (r < 0)
		return r;
	keys = json_object_get(json, "keys");
	r = json_is_array(keys) ? read_keys(keys, ret_set) : -EBADMSG;
	json_decref(json);
	return r;
}

struct eddy_keyset *eddy_keyset_of(struct eddy_jwk *key)
{
	struct eddy_keyset *set = new_set(1);

	if (!set)
		return NULL;
	set->keys[0] = eddy_jwk_ref(key);
	set->count = 1;
	set->is_of_one = true;
	return set;
}

struct eddy_keyset *eddy_keyset_ref(struct eddy_keyset *set)
{
	if (set)
		atomic_fetch_add_explicit(&set->refs, 1, memory_order_relaxed);
	return set;
}

void eddy_keyset_unref(struct eddy_keyset *set)
{
	if (!set || atomic_fetch_sub_explicit(&set->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < set->count; i++)
		eddy_jwk_unref(set->keys[i]);
	free(set);
}

size_t eddy_keyset_count(const struct eddy_keyset *set)
{
	return set->count;
}

size_t eddyi_keyset_skipped(const struct eddy_keyset *set)
{
	return set->skipped;
}

struct eddy_jwk *eddy_keyset_at(const struct eddy_keyset *set, size_t at)
{
	return at < set->count ? set->keys[at] : NULL;
}

static bool has_kid(const struct eddy_keyset *set, const struct eddy_jwk *key, struct eddy_str kid)
{
	if (!key->kid.ptr)
		return set->is_of_one;
	return eddy_str_eq(key->kid, kid);
}

struct eddy_jwk *eddyi_keyset_find(const struct eddy_keyset *set, struct eddy_str kid,
				   enum eddy_jws_alg alg)
{
	struct eddy_jwk *found = NULL;

	for (size_t i = 0; i < set->count; i++) {
		struct eddy_jwk *key = set->keys[i];

		if (!(key->algs & EDDY_JWS_BIT(alg)) || !key->can_verify)
			continue;
		if (kid.ptr && has_kid(set, key, kid))
			return key;
		if (kid.ptr)
			continue;
		if (found)
			return NULL;
		found = key;
	}
	return found;
}
