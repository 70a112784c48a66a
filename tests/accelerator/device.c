/* What the device is asked for besides, and what it does not do. */
#include "sealed.h"

#include <wolfssl/wolfcrypt/curve25519.h>
#include <wolfssl/wolfcrypt/random.h>
#include <wolfssl/wolfcrypt/sha256.h>

Test(device, draws_numbers, .init = prepare)
{
	unsigned char one[64] = { 0 }, other[64] = { 0 }, none[64] = { 0 };
	WC_RNG rng;

	cr_assert_eq(wc_InitRng_ex(&rng, NULL, eddyi_accelerator_id()), 0);
	cr_expect_eq(wc_RNG_GenerateBlock(&rng, one, sizeof(one)), 0);
	cr_expect_eq(wc_RNG_GenerateBlock(&rng, other, sizeof(other)), 0);
	cr_expect_neq(memcmp(one, other, sizeof(one)), 0);
	cr_expect_neq(memcmp(one, none, sizeof(one)), 0);
	wc_FreeRng(&rng);
}

#ifdef __x86_64__
/* As code of 256-bit vectors leaves them that calls no others. */
static void fill_vectors(void)
{
	__asm__ volatile("vcmptrueps %%ymm9, %%ymm9, %%ymm9" ::: "xmm9");
}

Test(device, draws_keys_of_x25519_whatever_is_in_vectors, .init = prepare)
{
	curve25519_key one, other;
	unsigned char secret[2][CURVE25519_KEYSIZE];
	word32 len[2] = { CURVE25519_KEYSIZE, CURVE25519_KEYSIZE };
	WC_RNG rng;

	if (!__builtin_cpu_supports("avx"))
		cr_skip_test("This processor has no AVX");
	cr_assert_eq(wc_InitRng_ex(&rng, NULL, eddyi_accelerator_id()), 0);
	wc_curve25519_init_ex(&one, NULL, eddyi_accelerator_id());
	wc_curve25519_init_ex(&other, NULL, eddyi_accelerator_id());
	fill_vectors();
	cr_assert_eq(wc_curve25519_make_key(&rng, CURVE25519_KEYSIZE, &one), 0);
	fill_vectors();
	cr_assert_eq(wc_curve25519_make_key(&rng, CURVE25519_KEYSIZE, &other), 0);
	cr_assert_eq(wc_curve25519_shared_secret(&one, &other, secret[0], &len[0]), 0);
	cr_assert_eq(wc_curve25519_shared_secret(&other, &one, secret[1], &len[1]), 0);
	cr_expect_arr_eq(secret[0], secret[1], CURVE25519_KEYSIZE);
	wc_curve25519_free(&other);
	wc_curve25519_free(&one);
	wc_FreeRng(&rng);
}
#endif

Test(device, leaves_hashes_to_wolfssl, .init = prepare)
{
	unsigned char ours[32], theirs[32];
	wc_Sha256 sha;

	cr_assert_eq(wc_InitSha256_ex(&sha, NULL, eddyi_accelerator_id()), 0);
	cr_expect_eq(wc_Sha256Update(&sha, (const unsigned char *)"abc", 3), 0);
	cr_expect_eq(wc_Sha256Final(&sha, ours), 0);
	cr_expect_eq(wc_Sha256Hash((const unsigned char *)"abc", 3, theirs), 0);
	cr_expect_arr_eq(ours, theirs, 32);
}

Test(device, has_a_name, .init = prepare)
{
	cr_expect(strncmp(eddyi_accelerator_name(), "OpenSSL 3.", 10) == 0);
	cr_expect_eq(eddyi_accelerator_id(), eddyi_accelerator_id());
}
