/* Fuzzes eddy/keyset.h: a key set. No key of one is private or a secret, and what is found is for what was asked. */
#include "jwt/keyset.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_key(const struct eddy_keyset *set, struct eddy_jwk *key)
{
	if (eddy_jwk_is_private(key) || eddy_jwk_algs(key) & EDDY_JWS_SECRET || !eddy_jwk_algs(key))
		abort();
	for (unsigned alg = 0; alg < EDDY_JWS_ALGS; alg++) {
		struct eddy_str kid = eddy_jwk_kid(key);
		struct eddy_jwk *found = eddyi_keyset_find(set, kid, (enum eddy_jws_alg)alg);

		if (found && !(eddy_jwk_algs(found) & EDDY_JWS_BIT(alg)))
			abort();
		if (found && kid.ptr && !eddy_str_eq(eddy_jwk_kid(found), kid))
			abort();
		if (!found && kid.ptr && eddy_jwk_algs(key) & EDDY_JWS_BIT(alg))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_keyset *set;

	if (eddy_keyset_parse(eddy_str((const char *)data, size), &set) < 0)
		return 0;
	if (!eddy_keyset_count(set) || eddy_keyset_count(set) > EDDY_KEYSET_MAX)
		abort();
	for (size_t i = 0; i < eddy_keyset_count(set); i++)
		try_key(set, eddy_keyset_at(set, i));
	eddy_keyset_unref(set);
	return 0;
}
