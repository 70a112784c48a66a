/* sealed.h: a key of AES-GCM in wolfSSL, which the accelerator does or not. */
#ifndef EDDY_TESTS_SEALED_H
#define EDDY_TESTS_SEALED_H

#include "accelerator/wolfcrypt.h"

#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/wc_port.h>

#include <criterion/criterion.h>
#include <eddy/internal/accelerator.h>
#include <string.h>

#define TEXT_MAX 20000
#define TAG 16

struct sealed {
	unsigned char text[TEXT_MAX + TAG];
	unsigned char iv[12], head[13], tag[TAG];
};

static inline void prepare(void)
{
	cr_assert_eq(wolfCrypt_Init(), 0);
	cr_assert_neq(eddyi_accelerator_id(), INVALID_DEVID);
}

static inline void set_key(Aes *aes, unsigned seed, word32 len)
{
	unsigned char key[32];

	for (word32 i = 0; i < len; i++)
		key[i] = (unsigned char)(seed * 7 + i * 31);
	cr_assert_eq(wc_AesGcmSetKey(aes, key, len), 0);
}

static inline void open_key(Aes *aes, int device, unsigned seed, word32 len)
{
	memset(aes, 0, sizeof(*aes));
	cr_assert_eq(wc_AesInit(aes, NULL, device), 0);
	set_key(aes, seed, len);
}

static inline void fill(struct sealed *sealed, unsigned seed)
{
	for (size_t i = 0; i < sizeof(sealed->text); i++)
		sealed->text[i] = (unsigned char)(i * 131 + seed);
	memset(sealed->iv, (int)seed, sizeof(sealed->iv));
	memset(sealed->head, (int)seed + 1, sizeof(sealed->head));
}

/* In place, as wolfSSL does with records. */
static inline int seal(Aes *aes, struct sealed *sealed, word32 len)
{
	return wc_AesGcmEncrypt(aes, sealed->text, sealed->text, len, sealed->iv,
				sizeof(sealed->iv), sealed->tag, TAG, sealed->head,
				sizeof(sealed->head));
}

static inline int open_sealed(Aes *aes, struct sealed *sealed, word32 len)
{
	return wc_AesGcmDecrypt(aes, sealed->text, sealed->text, len, sealed->iv,
				sizeof(sealed->iv), sealed->tag, TAG, sealed->head,
				sizeof(sealed->head));
}

#endif
