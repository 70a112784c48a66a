/* What the device is asked for besides, and what it does not do. */
#include "sealed.h"

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
