/* eddy/keyset.h: the keys of an issuer, as its JSON Web Key Set has them.
 *
 * A set is not changed once it is there, and may be used by any thread.
 */
#ifndef EDDY_KEYSET_H
#define EDDY_KEYSET_H

#include <eddy/jwk.h>

EDDY_BEGIN_DECLS

struct eddy_keyset;

/* Only so many of a set are looked at, which bounds the time it takes (30 ms); keys beyond them are skipped. */
#define EDDY_KEYSET_MAX 256

/* Read a key set (RFC 7517 section 5). Keys that are secret, weak, unknown, malformed or not for verifying are
 * skipped, one by one; of private ones the public half is kept. Never suspends. Return: 0; -EBADMSG when it is no key set,
 * -ENOKEY when not one key of it is of use, -ENOMEM. */
EDDY_API int eddy_keyset_parse(struct eddy_str text, struct eddy_keyset **ret_set);

/* Make a set of one key, which is kept. It answers to every kid when it has none itself. Return: NULL when
 * memory is out. */
EDDY_API struct eddy_keyset *eddy_keyset_of(struct eddy_jwk *key);

/* Keep a set, or let go of it; NULL is fine. Any thread. */
EDDY_API struct eddy_keyset *eddy_keyset_ref(struct eddy_keyset *set);
EDDY_API void eddy_keyset_unref(struct eddy_keyset *set);

/* How many keys are in it, and how many were skipped. */
EDDY_API size_t eddy_keyset_count(const struct eddy_keyset *set);
EDDY_API size_t eddy_keyset_skipped(const struct eddy_keyset *set);

/* One of them, from 0; NULL past the last. Borrowed from the set. */
EDDY_API struct eddy_jwk *eddy_keyset_at(const struct eddy_keyset *set, size_t at);

/* Find the key for a token: the first of this kid that is for `alg` and may verify; without a kid (.ptr NULL) the
 * only one that is. Return: borrowed from the set; NULL when there is none, or no single one. */
EDDY_API struct eddy_jwk *eddy_keyset_find(const struct eddy_keyset *set, struct eddy_str kid,
					   enum eddy_jws_alg alg);

EDDY_END_DECLS

#endif
