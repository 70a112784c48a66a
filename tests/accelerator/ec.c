/* Signatures and key exchange on curves: the other side is wolfSSL alone. */
#include "sealed.h"

#include <wolfssl/wolfcrypt/ecc.h>

static const int curves[] = { ECC_SECP256R1, ECC_SECP384R1, ECC_SECP521R1 };

static WC_RNG rng;

static void open_rng(void)
{
	prepare();
	cr_assert_eq(wc_InitRng(&rng), 0);
}

static void close_rng(void)
{
	eddyi_accelerator_forget_keys();
	wc_FreeRng(&rng);
}

static void make(ecc_key *key, int device, int curve)
{
	cr_assert_eq(wc_ecc_init_ex(key, NULL, device), 0);
	cr_assert_eq(wc_ecc_make_key_ex(&rng, wc_ecc_get_curve_size_from_id(curve), key, curve), 0);
	cr_assert_eq(wc_ecc_set_rng(key, &rng), 0);
}

/* The public half of a key, for wolfSSL alone. */
static void share(ecc_key *public, ecc_key *key, int curve)
{
	unsigned char point[140];
	word32 len = sizeof(point);

	cr_assert_eq(wc_ecc_export_x963(key, point, &len), 0);
	cr_assert_eq(wc_ecc_init(public), 0);
	cr_assert_eq(wc_ecc_import_x963_ex(point, len, public, curve), 0);
	cr_expect_eq(wc_ecc_check_key(public), 0);
}

Test(ec, signs, .init = open_rng, .fini = close_rng)
{
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
		unsigned char digest[48], signature[160];
		ecc_key key, public;
		int verified;

		make(&key, eddyi_accelerator_id(), curves[i]);
		share(&public, &key, curves[i]);
		for (unsigned seed = 0; seed < 5; seed++) {
			word32 len = sizeof(signature);

			memset(digest, (int)seed, sizeof(digest));
			cr_assert_eq(wc_ecc_sign_hash(digest, sizeof(digest), signature, &len, &rng,
						      &key),
				     0);
			cr_assert_eq(wc_ecc_verify_hash(signature, len, digest, sizeof(digest),
							&verified, &public),
				     0);
			cr_expect_eq(verified, 1);
			digest[0] ^= 1;
			cr_assert_eq(wc_ecc_verify_hash(signature, len, digest, sizeof(digest),
							&verified, &public),
				     0);
			cr_expect_eq(verified, 0);
			if (seed == 3)
				eddyi_accelerator_forget_keys();
		}
		wc_ecc_free(&key);
		wc_ecc_free(&public);
	}
}

Test(ec, exchanges_keys, .init = open_rng, .fini = close_rng)
{
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
		unsigned char one[66], other[66];
		ecc_key ours, ours_shared, theirs, theirs_shared;

		for (int round = 0; round < 5; round++) {
			word32 one_len = sizeof(one), other_len = sizeof(other);

			make(&ours, eddyi_accelerator_id(), curves[i]);
			make(&theirs, INVALID_DEVID, curves[i]);
			share(&ours_shared, &ours, curves[i]);
			share(&theirs_shared, &theirs, curves[i]);
			cr_assert_eq(wc_ecc_shared_secret(&ours, &theirs_shared, one, &one_len), 0);
			cr_assert_eq(wc_ecc_shared_secret(&theirs, &ours_shared, other, &other_len),
				     0);
			cr_assert_eq(one_len, other_len);
			cr_expect_arr_eq(one, other, one_len);
			wc_ecc_free(&ours);
			wc_ecc_free(&theirs);
			wc_ecc_free(&ours_shared);
			wc_ecc_free(&theirs_shared);
		}
	}
}

/* (1, 1) is on none of them: who computes with such points tells its private key, bit by bit. */
Test(ec, refuses_points_off_the_curve, .init = open_rng, .fini = close_rng)
{
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
		word32 size = (word32)wc_ecc_get_curve_size_from_id(curves[i]), len = 66;
		unsigned char point[133] = { 4 }, secret[66];
		ecc_key ours, bad;

		point[size] = point[2 * size] = 1;
		make(&ours, eddyi_accelerator_id(), curves[i]);
		cr_assert_eq(wc_ecc_init(&bad), 0);
		cr_assert_eq(wc_ecc_import_x963_ex(point, 1 + 2 * size, &bad, curves[i]), 0);
		cr_expect_lt(wc_ecc_shared_secret(&ours, &bad, secret, &len), 0);
		wc_ecc_free(&ours);
		wc_ecc_free(&bad);
	}
}

Test(ec, leaves_other_curves_to_wolfssl, .init = open_rng, .fini = close_rng)
{
	unsigned char digest[32] = "x", signature[160];
	word32 len = sizeof(signature);
	ecc_key key;
	int verified;

	make(&key, eddyi_accelerator_id(), ECC_SECP256K1);
	cr_assert_eq(wc_ecc_sign_hash(digest, sizeof(digest), signature, &len, &rng, &key), 0);
	cr_assert_eq(wc_ecc_verify_hash(signature, len, digest, sizeof(digest), &verified, &key),
		     0);
	cr_expect_eq(verified, 1);
	wc_ecc_free(&key);
}
