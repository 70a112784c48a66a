#include "digest.h"

#include <stdlib.h>

#if EDDY_BENCH_WOLFSSL
/* Its options would turn on _FORTIFY_SOURCE whatever the build says. */
#define WOLFSSL_OPTIONS_IGNORE_SYS
#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/sha256.h>

struct digest {
	wc_Sha256 sha;
};

bool digest_is_there(void)
{
	return true;
}

struct digest *digest_new(void)
{
	struct digest *digest = calloc(1, sizeof(*digest));

	if (digest && wc_InitSha256(&digest->sha) != 0) {
		free(digest);
		return NULL;
	}
	return digest;
}

void digest_free(struct digest *digest)
{
	if (!digest)
		return;
	wc_Sha256Free(&digest->sha);
	free(digest);
}

void digest_begin(struct digest *digest)
{
	wc_Sha256Free(&digest->sha);
	/* As it has done before. */
	(void)wc_InitSha256(&digest->sha);
}

void digest_add(struct digest *digest, const void *bytes, size_t len)
{
	wc_Sha256Update(&digest->sha, bytes, (word32)len);
}

void digest_end(struct digest *digest, unsigned char ret_bytes[DIGEST_SIZE])
{
	wc_Sha256Final(&digest->sha, ret_bytes);
}
#else
struct digest {
	char none;
};

bool digest_is_there(void)
{
	return false;
}

struct digest *digest_new(void)
{
	return NULL;
}

void digest_free(struct digest *digest)
{
	free(digest);
}

void digest_begin(struct digest *digest)
{
	(void)digest;
}

void digest_add(struct digest *digest, const void *bytes, size_t len)
{
	(void)digest;
	(void)bytes;
	(void)len;
}

void digest_end(struct digest *digest, unsigned char ret_bytes[DIGEST_SIZE])
{
	(void)digest;
	(void)ret_bytes;
}
#endif

static int digit(char c)
{
	return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

void digest_parse(const char *text, unsigned char ret_bytes[DIGEST_SIZE])
{
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		ret_bytes[i] = (unsigned char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
}
