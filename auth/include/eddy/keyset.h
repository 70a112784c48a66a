/* eddy/keyset.h: JSON Web Key Sets (RFC 7517 section 5), the public keys of an issuer.
 *
 * A set does not change once it is made. Any thread may use it.
 */
#ifndef EDDY_KEYSET_H
#define EDDY_KEYSET_H

#include <eddy/jwk.h>

EDDY_BEGIN_DECLS

struct eddy_keyset;

/* The number of keys read from one set, which takes at most 30 ms; further keys are skipped. */
#define EDDY_KEYSET_MAX 256

/* Read a key set. Secrets, weak or malformed keys, unknown kinds of keys and keys that are not for
 * verifying are skipped; of private keys the public half is kept. Never suspends.
 * Return: 0; -EBADMSG if it is not a key set; -ENOKEY if it has no usable key; -ENOMEM. */
EDDY_API int eddy_keyset_parse(struct eddy_str text, struct eddy_keyset **ret_set);

/* Make a set of one key, to which it takes a reference. A key without a kid matches every kid.
 * Return: NULL on allocation failure. */
EDDY_API struct eddy_keyset *eddy_keyset_of(struct eddy_jwk *key);

/* Take or release a reference to a set; NULL is accepted. Any thread may call it. */
EDDY_API struct eddy_keyset *eddy_keyset_ref(struct eddy_keyset *set);
EDDY_API void eddy_keyset_unref(struct eddy_keyset *set);

/* Count the keys in a set. */
EDDY_API size_t eddy_keyset_count(const struct eddy_keyset *set);

/* Get a key by its index, from 0. Return: borrowed from the set; NULL past the last. */
EDDY_API struct eddy_jwk *eddy_keyset_at(const struct eddy_keyset *set, size_t at);

EDDY_END_DECLS

#endif
