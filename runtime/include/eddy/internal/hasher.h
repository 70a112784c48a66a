/* eddy/hasher.h: hashes of bytes that arrive in pieces, computed by libcrypto. Part of
 * libeddy-accelerator.
 *
 *     struct eddyi_hasher *hasher = eddyi_hasher_new(256);
 *
 *     eddyi_hasher_add(hasher, bytes, len);
 *     eddyi_hasher_end(hasher, hash);
 *     eddyi_hasher_free(hasher);
 *
 * A hasher belongs to one thread at a time.
 */
#ifndef EDDY_HASHER_H
#define EDDY_HASHER_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddyi_hasher;

/* Begin a hash by its size in bits: 160 is SHA-1, 256 and 512 are SHA-2.
 * Return: NULL on allocation failure, for another size, or if libcrypto lacks it. */
EDDY_API struct eddyi_hasher *eddyi_hasher_new(unsigned bits);

/* Free a hasher; NULL is fine. */
EDDY_API void eddyi_hasher_free(struct eddyi_hasher *hasher);

/* Add the next bytes. Never suspends. */
EDDY_API void eddyi_hasher_add(struct eddyi_hasher *hasher, const void *bytes, size_t len);

/* Get the hash of all bytes; none may follow. Return: false if libcrypto has failed. */
EDDY_API bool eddyi_hasher_end(struct eddyi_hasher *hasher, unsigned char *ret_hash);

EDDY_END_DECLS

#endif
