#include <eddy/internal/hasher.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>

struct eddyi_hasher {
	EVP_MD_CTX *context;
	bool has_failed;
};

static const struct {
	unsigned bits;
	const char *name;
} hashes[] = { { 160, "SHA1" }, { 256, "SHA2-256" }, { 512, "SHA2-512" } };

#define COUNT (sizeof(hashes) / sizeof(*hashes))

static EVP_MD *fetched[COUNT];

static void fetch(void)
{
	for (size_t i = 0; i < COUNT; i++)
		fetched[i] = EVP_MD_fetch(NULL, hashes[i].name, NULL);
	ERR_clear_error();
}

/* Return: NULL if there is none. */
static const EVP_MD *hash_of(unsigned bits)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fetch);
	for (size_t i = 0; i < COUNT; i++)
		if (hashes[i].bits == bits)
			return fetched[i];
	return NULL;
}

struct eddyi_hasher *eddyi_hasher_new(unsigned bits)
{
	const EVP_MD *hash = hash_of(bits);
	struct eddyi_hasher *hasher = hash ? calloc(1, sizeof(*hasher)) : NULL;

	if (!hasher)
		return NULL;
	hasher->context = EVP_MD_CTX_new();
	if (hasher->context && EVP_DigestInit_ex2(hasher->context, hash, NULL) == 1)
		return hasher;
	eddyi_hasher_free(hasher);
	ERR_clear_error();
	return NULL;
}

void eddyi_hasher_free(struct eddyi_hasher *hasher)
{
	if (!hasher)
		return;
	EVP_MD_CTX_free(hasher->context);
	free(hasher);
}

void eddyi_hasher_add(struct eddyi_hasher *hasher, const void *bytes, size_t len)
{
	hasher->has_failed |= EVP_DigestUpdate(hasher->context, bytes, len) != 1;
}

bool eddyi_hasher_end(struct eddyi_hasher *hasher, unsigned char *ret_hash)
{
	if (!hasher->has_failed && EVP_DigestFinal_ex(hasher->context, ret_hash, NULL) == 1)
		return true;
	ERR_clear_error();
	return false;
}
