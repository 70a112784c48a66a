/* ECDSA on P-256, P-384 and P-521 (RFC 7518 section 3.4). */
#include "jwk.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <pthread.h>
#include <wolfssl/wolfcrypt/ecc.h>

enum { X, Y, D };

static const unsigned char order_256[32] = {
	0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
	0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
};
static const unsigned char order_384[48] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xc7, 0x63, 0x4d, 0x81, 0xf4, 0x37, 0x2d, 0xdf, 0x58, 0x1a, 0x0d, 0xb2,
	0x48, 0xb0, 0xa7, 0x7a, 0xec, 0xec, 0x19, 0x6a, 0xcc, 0xc5, 0x29, 0x73,
};
static const unsigned char order_521[66] = {
	0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xfa, 0x51, 0x86, 0x87, 0x83, 0xbf, 0x2f, 0x96, 0x6b,
	0x7f, 0xcc, 0x01, 0x48, 0xf7, 0x09, 0xa5, 0xd0, 0x3b, 0xb5, 0xc9, 0xb8, 0x89, 0x9c,
	0x47, 0xae, 0xbb, 0x6f, 0xb7, 0x1e, 0x91, 0x38, 0x64, 0x09,
};

static const struct eddyi_jwk_curve curves[] = {
	{ "P-256", 32, 64, EDDY_JWS_ES256, ECC_SECP256R1, order_256 },
	{ "P-384", 48, 96, EDDY_JWS_ES384, ECC_SECP384R1, order_384 },
	{ "P-521", 66, 132, EDDY_JWS_ES512, ECC_SECP521R1, order_521 },
};

#ifdef FP_ECC
/* wolfCrypt caches tables of points for each thread. They are freed when the thread ends. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t tables;
static bool has_key;

static void free_tables(void *unused)
{
	(void)unused;
	wc_ecc_fp_free();
}

static void make_key(void)
{
	has_key = pthread_key_create(&tables, free_tables) == 0;
}

static void own_tables(void)
{
	pthread_once(&once, make_key);
	if (has_key)
		pthread_setspecific(tables, &tables);
}
#else
static void own_tables(void)
{
}
#endif

/* Whether a number is at least 1 and below the order of the group. */
static bool is_in_range(const struct eddyi_jwk_curve *curve, const unsigned char *number)
{
	unsigned char any = 0;

	for (size_t i = 0; i < curve->width; i++)
		any |= number[i];
	return any && memcmp(number, curve->order, curve->width) < 0;
}

static int load(const struct eddyi_jwk_curve *curve, const unsigned char *x, const unsigned char *y,
		const unsigned char *d, ecc_key *ecc)
{
	int r = wc_ecc_init_ex(ecc, NULL, INVALID_DEVID);

	return r == 0 ? wc_ecc_import_unsigned(ecc, (byte *)x, (byte *)y, (byte *)d, curve->id) : r;
}

/* The orders are prime: every point on the curve is in the group. */
static int check(struct eddy_jwk *key)
{
	ecc_key ecc;
	int r = load(key->curve, eddyi_bytes(key->numbers[X]), eddyi_bytes(key->numbers[Y]), NULL,
		     &ecc);

	if (r == 0)
		r = wc_ecc_point_is_on_curve(&ecc.pubkey, ecc.idx);
	wc_ecc_free(&ecc);
	return eddyi_wolfcrypt_error(r, -EKEYREJECTED);
}

int eddyi_ec_public_of(const struct eddyi_jwk_curve *curve, struct eddy_str d, unsigned char *ret_x,
		       unsigned char *ret_y)
{
	word32 x_len = (word32)curve->width, y_len = x_len;
	ecc_key ecc;
	WC_RNG rng;
	int r;

	if (!is_in_range(curve, eddyi_bytes(d)))
		return -EKEYREJECTED;
	own_tables();
	r = wc_InitRng_ex(&rng, NULL, INVALID_DEVID);
	if (r < 0)
		return eddyi_wolfcrypt_error(r, -EIO);
	r = wc_ecc_init_ex(&ecc, NULL, INVALID_DEVID);
	if (r == 0)
		r = wc_ecc_import_private_key_ex(eddyi_bytes(d), (word32)d.len, NULL, 0, &ecc,
						 curve->id);
	if (r == 0)
		r = wc_ecc_make_pub_ex(&ecc, NULL, &rng);
	if (r == 0)
		r = wc_ecc_export_public_raw(&ecc, ret_x, &x_len, ret_y, &y_len);
	wc_ecc_free(&ecc);
	wc_FreeRng(&rng);
	return eddyi_wolfcrypt_error(r, -EIO);
}

static int check_private(const struct eddy_jwk *key)
{
	unsigned char x[EDDYI_JWK_COORDINATE_MAX], y[EDDYI_JWK_COORDINATE_MAX];
	size_t width = key->curve->width;
	int r = eddyi_ec_public_of(key->curve, key->numbers[D], x, y);

	if (r < 0)
		return r;
	if (memcmp(x, key->numbers[X].ptr, width) || memcmp(y, key->numbers[Y].ptr, width))
		return -EKEYREJECTED;
	return 0;
}

static size_t signature_len(const struct eddy_jwk *key, enum eddy_jws_alg alg)
{
	(void)alg;
	return key->curve->signature_len;
}

static int hash_text(const struct eddyi_jws_use *use, unsigned char *ret_hash, word32 *ret_len)
{
	const struct eddyi_digest *digest = eddyi_jws_digest(use->alg);

	*ret_len = digest->len;
	return wc_Hash(digest->type, eddyi_bytes(use->text), (word32)use->text.len, ret_hash,
		       digest->len);
}

static int sign_with(const struct eddyi_jws_use *use, ecc_key *ecc, WC_RNG *rng)
{
	unsigned char hash[EDDYI_DIGEST_MAX];
	int width = (int)use->key->curve->width;
	word32 hash_len;
	mp_int halves[2];
	int r = hash_text(use, hash, &hash_len);

	if (r == 0)
		r = mp_init_multi(&halves[0], &halves[1], NULL, NULL, NULL, NULL);
	if (r == 0)
		r = wc_ecc_sign_hash_ex(hash, hash_len, rng, ecc, &halves[0], &halves[1]);
	for (int i = 0; r == 0 && i < 2; i++)
		r = mp_to_unsigned_bin_len(&halves[i], use->ret_signature + i * width, width);
	return r;
}

static int sign(const struct eddyi_jws_use *use)
{
	const struct eddy_jwk *key = use->key;
	ecc_key ecc;
	WC_RNG rng;
	int r;

	own_tables();
	r = wc_InitRng_ex(&rng, NULL, INVALID_DEVID);
	if (r < 0)
		return eddyi_wolfcrypt_error(r, -EIO);
	r = load(key->curve, eddyi_bytes(key->numbers[X]), eddyi_bytes(key->numbers[Y]),
		 eddyi_bytes(key->numbers[D]), &ecc);
	if (r == 0)
		r = sign_with(use, &ecc, &rng);
	wc_ecc_free(&ecc);
	wc_FreeRng(&rng);
	return eddyi_wolfcrypt_error(r, -EIO);
}

static int verify(const struct eddyi_jws_use *use)
{
	const struct eddy_jwk *key = use->key;
	size_t width = key->curve->width;
	unsigned char hash[EDDYI_DIGEST_MAX];
	word32 hash_len;
	mp_int halves[2];
	ecc_key ecc;
	int r, fits = 0;

	if (!is_in_range(key->curve, use->signature) ||
	    !is_in_range(key->curve, use->signature + width))
		return -EKEYREJECTED;
	own_tables();
	r = hash_text(use, hash, &hash_len);
	if (r == 0)
		r = mp_init_multi(&halves[0], &halves[1], NULL, NULL, NULL, NULL);
	for (int i = 0; r == 0 && i < 2; i++)
		r = mp_read_unsigned_bin(&halves[i], use->signature + (size_t)i * width,
					 (word32)width);
	if (r < 0)
		return eddyi_wolfcrypt_error(r, -EKEYREJECTED);
	r = load(key->curve, eddyi_bytes(key->numbers[X]), eddyi_bytes(key->numbers[Y]), NULL,
		 &ecc);
	if (r == 0)
		r = wc_ecc_verify_hash_ex(&halves[0], &halves[1], hash, hash_len, &fits, &ecc);
	wc_ecc_free(&ecc);
	return r == 0 && fits != 1 ? -EKEYREJECTED : eddyi_wolfcrypt_error(r, -EKEYREJECTED);
}

const struct eddyi_jwk_kind eddyi_jwk_ec = {
	.kty = "EC",
	.members = { "x", "y", "d" },
	.count = 3,
	.public_count = 2,
	.curves = curves,
	.curve_count = sizeof(curves) / sizeof(curves[0]),
	.verify_at = EDDYI_OFFLOADED,
	.sign_at = EDDYI_OFFLOADED,
	.check = check,
	.check_private = check_private,
	.signature_len = signature_len,
	.sign = sign,
	.verify = verify,
};
