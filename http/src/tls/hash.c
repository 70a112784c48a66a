#include "hash.h"

#include "wolfssl.h"

#if EDDYI_ACCELERATOR
#include <eddy/internal/hasher.h>
#endif
#include <stdlib.h>
#include <wolfssl/wolfcrypt/hash.h>

struct eddyi_hash {
#if EDDYI_ACCELERATOR
	struct eddyi_hasher *accelerated; /* NULL: wolfSSL computes the hash */
#endif
	enum wc_HashType type;
	wc_HashAlg own;
	bool has_begun;
	bool has_failed;
};

static enum wc_HashType type_of(unsigned bits)
{
	switch (bits) {
	case 160:
		return WC_HASH_TYPE_SHA;
	case 256:
		return WC_HASH_TYPE_SHA256;
	case 512:
		return WC_HASH_TYPE_SHA512;
	}
	return WC_HASH_TYPE_NONE;
}

struct eddyi_hash *eddyi_hash_new(unsigned bits)
{
	struct eddyi_hash *hash = calloc(1, sizeof(*hash));

	if (!hash)
		return NULL;
#if EDDYI_ACCELERATOR
	hash->accelerated = eddyi_hasher_new(bits);
	if (hash->accelerated)
		return hash;
#endif
	hash->type = type_of(bits);
	hash->has_begun = wc_HashInit(&hash->own, hash->type) == 0;
	if (hash->has_begun)
		return hash;
	free(hash);
	return NULL;
}

void eddyi_hash_free(struct eddyi_hash *hash)
{
	if (!hash)
		return;
#if EDDYI_ACCELERATOR
	eddyi_hasher_free(hash->accelerated);
#endif
	if (hash->has_begun)
		wc_HashFree(&hash->own, hash->type);
	free(hash);
}

void eddyi_hash_add(struct eddyi_hash *hash, const void *bytes, size_t len)
{
#if EDDYI_ACCELERATOR
	if (hash->accelerated) {
		eddyi_hasher_add(hash->accelerated, bytes, len);
		return;
	}
#endif
	hash->has_failed |= wc_HashUpdate(&hash->own, hash->type, bytes, (word32)len) != 0;
}

bool eddyi_hash_end(struct eddyi_hash *hash, unsigned char *ret_bytes)
{
#if EDDYI_ACCELERATOR
	if (hash->accelerated)
		return eddyi_hasher_end(hash->accelerated, ret_bytes);
#endif
	return !hash->has_failed && wc_HashFinal(&hash->own, hash->type, ret_bytes) == 0;
}
