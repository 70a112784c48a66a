/* keyset.h: what key sets have for verification and log records. */
#ifndef EDDYI_KEYSET_H
#define EDDYI_KEYSET_H

#include <eddy/keyset.h>

/* Count the keys of a parsed set that were skipped. */
EDDY_API size_t eddyi_keyset_skipped(const struct eddy_keyset *set);

/* Find the key that verifies a token: the first with this kid that is for `alg` and may verify;
 * without a kid (.ptr NULL) the only such key. Return: borrowed from the set; NULL if there is
 * none, or more than one. */
struct eddy_jwk *eddyi_keyset_find(const struct eddy_keyset *set, struct eddy_str kid,
				   enum eddy_jws_alg alg);

#endif
