/* Private keys of RSA: what wolfSSL verifies by itself. */
#include "sealed.h"

#include <pthread.h>
#include <wolfssl/wolfcrypt/rsa.h>

static RsaKey ours, public;
static unsigned char der[4096];
static int len;
static WC_RNG rng;

/* The same key once with the device and once, its public half, without. */
static void make_key(void)
{
	unsigned char e[8], n[256];
	word32 at = 0, e_len = sizeof(e), n_len = sizeof(n);
	RsaKey made;

	prepare();
	cr_assert_eq(wc_InitRng(&rng), 0);
	cr_assert_eq(wc_InitRsaKey(&made, NULL), 0);
	cr_assert_eq(wc_MakeRsaKey(&made, 2048, WC_RSA_EXPONENT, &rng), 0);
	len = wc_RsaKeyToDer(&made, der, sizeof(der));
	cr_assert_gt(len, 0);
	cr_assert_eq(wc_InitRsaKey_ex(&ours, NULL, eddyi_accelerator_id()), 0);
	cr_assert_eq(wc_RsaPrivateKeyDecode(der, &at, &ours, (word32)len), 0);
	cr_assert_eq(wc_RsaSetRNG(&ours, &rng), 0);
	cr_assert_eq(wc_RsaFlattenPublicKey(&made, e, &e_len, n, &n_len), 0);
	cr_assert_eq(wc_InitRsaKey(&public, NULL), 0);
	cr_assert_eq(wc_RsaPublicKeyDecodeRaw(n, n_len, e, e_len, &public), 0);
	wc_FreeRsaKey(&made);
}

static void free_key(void)
{
	wc_FreeRsaKey(&ours);
	wc_FreeRsaKey(&public);
	wc_FreeRng(&rng);
	eddyi_accelerator_forget_keys();
}

static void sign(unsigned seed)
{
	unsigned char digest[32], signature[256], plain[256];

	memset(digest, (int)seed, sizeof(digest));
	cr_assert_eq(wc_RsaSSL_Sign(digest, sizeof(digest), signature, sizeof(signature), &ours,
				    &rng),
		     256);
	cr_assert_eq(wc_RsaSSL_Verify(signature, 256, plain, sizeof(plain), &public), 32);
	cr_expect_arr_eq(plain, digest, 32);
	cr_assert_eq(wc_RsaPSS_Sign(digest, sizeof(digest), signature, sizeof(signature),
				    WC_HASH_TYPE_SHA256, WC_MGF1SHA256, &ours, &rng),
		     256);
	cr_expect_gt(wc_RsaPSS_VerifyCheck(signature, 256, plain, sizeof(plain), digest, 32,
					   WC_HASH_TYPE_SHA256, WC_MGF1SHA256, &public),
		     0);
}

Test(rsa, signs, .init = make_key, .fini = free_key)
{
	for (unsigned i = 0; i < 10; i++)
		sign(i);
	eddyi_accelerator_forget_keys();
	sign(99);
}

Test(rsa, decrypts, .init = make_key, .fini = free_key)
{
	unsigned char text[] = "a secret", sealed[256], plain[256];

	cr_assert_eq(wc_RsaPublicEncrypt(text, sizeof(text), sealed, sizeof(sealed), &public, &rng),
		     256);
	cr_assert_eq(wc_RsaPrivateDecrypt(sealed, 256, plain, sizeof(plain), &ours), sizeof(text));
	cr_expect_str_eq((char *)plain, (char *)text);
	sealed[7] ^= 1;
	cr_expect_lt(wc_RsaPrivateDecrypt(sealed, 256, plain, sizeof(plain), &ours), 0);
	/* A number that is larger than the modulus. */
	memset(sealed, 0xff, sizeof(sealed));
	cr_expect_lt(wc_RsaPrivateDecrypt(sealed, 256, plain, sizeof(plain), &ours), 0);
	sign(1);
}

/* Who verifies has no private half, and asks in vain. */
Test(rsa, leaves_public_keys_to_wolfssl, .init = make_key, .fini = free_key)
{
	unsigned char digest[32] = "x", signature[256], plain[256];

	cr_assert_eq(wc_RsaSSL_Sign(digest, 32, signature, 256, &ours, &rng), 256);
	cr_expect_eq(wc_RsaSSL_Verify(signature, 256, plain, 256, &ours), 32);
}

/* Each has read the key for itself, as sessions do. */
static void *sign_often(void *arg)
{
	word32 at = 0;
	RsaKey mine;

	(void)arg;
	cr_assert_eq(wc_InitRsaKey_ex(&mine, NULL, eddyi_accelerator_id()), 0);
	cr_assert_eq(wc_RsaPrivateKeyDecode(der, &at, &mine, (word32)len), 0);
	for (unsigned i = 0; i < 20; i++) {
		unsigned char digest[32], signature[256];

		memset(digest, (int)i, sizeof(digest));
		cr_expect_eq(wc_RsaSSL_Sign(digest, 32, signature, 256, &mine, NULL), 256);
		if (i % 5 == 0)
			eddyi_accelerator_forget_keys();
	}
	wc_FreeRsaKey(&mine);
	return NULL;
}

Test(rsa, is_used_by_many_threads, .init = make_key, .fini = free_key)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, sign_often, NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}
