/* keys.h: private keys in libcrypto's form, by what tells them from others. wolfSSL reads its own anew for each handshake, and to make
 * libcrypto's of it takes a tenth of a signature. */
#ifndef EDDYI_KEYS_H
#define EDDYI_KEYS_H

#include <openssl/evp.h>
#include <stddef.h>

#define EDDYI_KEY_ID_MAX ((size_t)512)

/* Return: a reference to the key of this id, the caller's to free; NULL where none is kept. Any thread. */
EVP_PKEY *eddyi_keys_find(const unsigned char *id, size_t len);

/* Keep a key for others, in place of the one that was kept first where there is no room. Any thread. */
void eddyi_keys_keep(EVP_PKEY *key, const unsigned char *id, size_t len);

/* Free those that are kept. Any thread. */
void eddyi_keys_forget(void);

#endif
