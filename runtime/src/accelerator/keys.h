/* keys.h: private keys in libcrypto's form, by what tells them from others. wolfSSL reads its own anew for each handshake, and to make
 * libcrypto's of it takes a tenth of a signature. */
#ifndef EDDYI_KEYS_H
#define EDDYI_KEYS_H

#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stddef.h>

#define EDDYI_KEY_ID_MAX ((size_t)512)

/* Return: a reference to the key of this id, the caller's to free; NULL where none is kept. Any thread. */
EVP_PKEY *eddyi_keys_find(const unsigned char *id, size_t len);

/* How often they have been freed: to be asked for before a key is made. Any thread. */
unsigned eddyi_keys_generation(void);

/* Keep a key for others, in place of the one that was kept first where there is no room; not if they have been freed since
 * `generation`: it may be one that was replaced. Any thread. */
void eddyi_keys_keep(EVP_PKEY *key, const unsigned char *id, size_t len, unsigned generation);

/* Make a key of an algorithm, such as "RSA", from its parts, which the builder has. Frees the builder.
 * Return: NULL when memory is out, or the parts are no key. */
EVP_PKEY *eddyi_keys_make(const char *algorithm, int selection, OSSL_PARAM_BLD *builder);

/* Free those that are kept. Any thread. */
void eddyi_keys_forget(void);

#endif
