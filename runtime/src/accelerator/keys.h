/* keys.h: a cache of private keys in libcrypto's form. wolfSSL parses its key for each handshake,
 * and converting it takes a tenth of a signature. */
#ifndef EDDYI_KEYS_H
#define EDDYI_KEYS_H

#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stddef.h>

#define EDDYI_KEY_ID_MAX ((size_t)512)

/* Find a key by its id. Any thread may call it. Return: a reference, to be freed; NULL. */
EVP_PKEY *eddyi_keys_find(const unsigned char *id, size_t len);

/* Count how often the cache was cleared; call it before making a key. Any thread may call it. */
unsigned eddyi_keys_generation(void);

/* Add a key, replacing the oldest if the cache is full. No effect if the cache was cleared after
 * `generation`: the key may be outdated. Any thread may call it. */
void eddyi_keys_keep(EVP_PKEY *key, const unsigned char *id, size_t len, unsigned generation);

/* Make a key of an algorithm, such as "RSA", from the parts in the builder. Frees the builder.
 * Return: NULL on allocation failure, or if the parts are no key. */
EVP_PKEY *eddyi_keys_make(const char *algorithm, int selection, OSSL_PARAM_BLD *builder);

/* Clear the cache. Any thread may call it. */
void eddyi_keys_forget(void);

#endif
