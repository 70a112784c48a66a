#include "digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct digest {
	EVP_MD_CTX *context;
};

bool digest_is_there(void)
{
	return true;
}

struct digest *digest_new(void)
{
	struct digest *digest = calloc(1, sizeof(*digest));

	if (digest)
		digest->context = EVP_MD_CTX_new();
	if (digest && digest->context && EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL))
		return digest;
	digest_free(digest);
	return NULL;
}

void digest_free(struct digest *digest)
{
	if (!digest)
		return;
	EVP_MD_CTX_free(digest->context);
	free(digest);
}

void digest_begin(struct digest *digest)
{
	/* As it has done before. */
	(void)EVP_DigestInit_ex(digest->context, NULL, NULL);
}

void digest_add(struct digest *digest, const void *bytes, size_t len)
{
	EVP_DigestUpdate(digest->context, bytes, len);
}

void digest_end(struct digest *digest, unsigned char ret_bytes[DIGEST_SIZE])
{
	EVP_DigestFinal_ex(digest->context, ret_bytes, NULL);
}
