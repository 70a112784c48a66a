/* Ed25519 and Ed448 (RFC 8032, RFC 8037). */
#include "jwk.h"

#include <errno.h>
#include <wolfssl/wolfcrypt/ed25519.h>
#include <wolfssl/wolfcrypt/ed448.h>

enum { X, D };
enum { ED25519, ED448 };

/* Orders of the groups (RFC 8032 sections 5.1 and 5.2), little-endian. */
static const unsigned char order_25519[32] = {
	0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
	0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
	0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10,
};
static const unsigned char order_448[57] = {
	0xf3, 0x44, 0x58, 0xab, 0x92, 0xc2, 0x78, 0x23, 0x55, 0x8f, 0xc5, 0x8d, 0x72, 0xc2, 0x6c,
	0x21, 0x90, 0x36, 0xd6, 0xae, 0x49, 0xdb, 0x4e, 0xc4, 0xe9, 0x23, 0xca, 0x7c, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0,
};

/* 2^255 - 19 and 2^448 - 2^224 - 1, little-endian, without the bit for the sign of x. */
static const unsigned char prime_25519[32] = {
	0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
};
static const unsigned char prime_448[57] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,
};

/* The y of the four points of order 8 of edwards25519, little-endian. */
static const unsigned char order_8[2][32] = {
	{ 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
	  0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
	  0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05 },
	{ 0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
	  0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
	  0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a },
};

static const struct eddyi_jwk_curve curves[] = {
	{ "Ed25519", 32, 64, EDDY_JWS_EDDSA, ED25519, order_25519 },
	{ "Ed448", 57, 114, EDDY_JWS_EDDSA, ED448, order_448 },
};

static bool is_below(const unsigned char *a, const unsigned char *b, size_t len)
{
	while (len--)
		if (a[len] != b[len])
			return a[len] < b[len];
	return false;
}

/* One encoding for each point, and no small order, with which one signature fits many texts. */
static bool is_sound(const struct eddyi_jwk_curve *curve, const unsigned char *x)
{
	const unsigned char *prime = curve->id == ED25519 ? prime_25519 : prime_448;
	unsigned char y[57], at_most_one = 0, minus_one[57];

	memcpy(y, x, curve->width);
	y[curve->width - 1] &= 0x7f;
	if (!is_below(y, prime, curve->width))
		return false;
	memcpy(minus_one, prime, curve->width);
	minus_one[0]--;
	for (size_t i = 1; i < curve->width; i++)
		at_most_one |= y[i];
	if ((!at_most_one && y[0] <= 1) || !memcmp(y, minus_one, curve->width))
		return false;
	return curve->id != ED25519 || (memcmp(y, order_8[0], 32) && memcmp(y, order_8[1], 32));
}

/* Whether a point has this y, wolfCrypt 5.5 checks only in a verification. */
static int check(struct eddy_jwk *key)
{
	const unsigned char *x = eddyi_bytes(key->numbers[X]);
	const unsigned char none[114] = { 0 };
	int r, fits;

	if (!is_sound(key->curve, x))
		return -EKEYREJECTED;
	if (key->curve->id == ED25519) {
		ed25519_key ed;

		r = wc_ed25519_init_ex(&ed, NULL, INVALID_DEVID);
		if (r == 0)
			r = wc_ed25519_import_public_ex(x, 32, &ed, 0);
		if (r == 0)
			r = wc_ed25519_verify_msg(none, 64, none, 1, &fits, &ed);
		wc_ed25519_free(&ed);
	} else {
		ed448_key ed;

		r = wc_ed448_init_ex(&ed, NULL, INVALID_DEVID);
		if (r == 0)
			r = wc_ed448_import_public_ex(x, 57, &ed, 0);
		if (r == 0)
			r = wc_ed448_verify_msg(none, 114, none, 1, &fits, &ed, NULL, 0);
		wc_ed448_free(&ed);
	}
	return r == SIG_VERIFY_E ? 0 : eddyi_wolfcrypt_error(r, -EKEYREJECTED);
}

int eddyi_okp_public_of(const struct eddyi_jwk_curve *curve, struct eddy_str d,
			unsigned char *ret_x)
{
	int r;

	if (curve->id == ED25519) {
		ed25519_key ed;

		r = wc_ed25519_init_ex(&ed, NULL, INVALID_DEVID);
		if (r == 0)
			r = wc_ed25519_import_private_only(eddyi_bytes(d), 32, &ed);
		if (r == 0)
			r = wc_ed25519_make_public(&ed, ret_x, 32);
		wc_ed25519_free(&ed);
	} else {
		ed448_key ed;

		r = wc_ed448_init_ex(&ed, NULL, INVALID_DEVID);
		if (r == 0)
			r = wc_ed448_import_private_only(eddyi_bytes(d), 57, &ed);
		if (r == 0)
			r = wc_ed448_make_public(&ed, ret_x, 57);
		wc_ed448_free(&ed);
	}
	return eddyi_wolfcrypt_error(r, -EKEYREJECTED);
}

static int check_private(const struct eddy_jwk *key)
{
	unsigned char x[EDDYI_JWK_COORDINATE_MAX];
	int r = eddyi_okp_public_of(key->curve, key->numbers[D], x);

	if (r < 0)
		return r;
	return memcmp(x, key->numbers[X].ptr, key->curve->width) ? -EKEYREJECTED : 0;
}

static size_t signature_len(const struct eddy_jwk *key, enum eddy_jws_alg alg)
{
	(void)alg;
	return key->curve->signature_len;
}

static int sign(const struct eddyi_jws_use *use)
{
	const unsigned char *text = eddyi_bytes(use->text);
	const unsigned char *x = eddyi_bytes(use->key->numbers[X]);
	const unsigned char *d = eddyi_bytes(use->key->numbers[D]);
	word32 len = (word32)use->key->curve->signature_len, text_len = (word32)use->text.len;
	int r;

	if (use->key->curve->id == ED25519) {
		ed25519_key ed;

		r = wc_ed25519_init_ex(&ed, NULL, INVALID_DEVID);
		if (r == 0)
			r = wc_ed25519_import_private_key_ex(d, 32, x, 32, &ed, 1);
		if (r == 0)
			r = wc_ed25519_sign_msg(text, text_len, use->ret_signature, &len, &ed);
		wc_ed25519_free(&ed);
	} else {
		ed448_key ed;

		r = wc_ed448_init_ex(&ed, NULL, INVALID_DEVID);
		if (r == 0)
			r = wc_ed448_import_private_key_ex(d, 57, x, 57, &ed, 1);
		if (r == 0)
			r = wc_ed448_sign_msg(text, text_len, use->ret_signature, &len, &ed, NULL,
					      0);
		wc_ed448_free(&ed);
	}
	return eddyi_wolfcrypt_error(r, -EIO);
}

static int verify(const struct eddyi_jws_use *use)
{
	const struct eddyi_jwk_curve *curve = use->key->curve;
	const unsigned char *text = eddyi_bytes(use->text);
	const unsigned char *x = eddyi_bytes(use->key->numbers[X]);
	word32 len = (word32)curve->signature_len, text_len = (word32)use->text.len;
	int r, fits = 0;

	/* wolfCrypt 5.5 accepts S slightly above the order. */
	if (!is_below(use->signature + curve->width, curve->order, curve->width))
		return -EKEYREJECTED;
	if (curve->id == ED25519) {
		ed25519_key ed;

		r = wc_ed25519_init_ex(&ed, NULL, INVALID_DEVID);
		if (r == 0)
			r = wc_ed25519_import_public_ex(x, 32, &ed, 1);
		if (r == 0)
			r = wc_ed25519_verify_msg(use->signature, len, text, text_len, &fits, &ed);
		wc_ed25519_free(&ed);
	} else {
		ed448_key ed;

		r = wc_ed448_init_ex(&ed, NULL, INVALID_DEVID);
		if (r == 0)
			r = wc_ed448_import_public_ex(x, 57, &ed, 1);
		if (r == 0)
			r = wc_ed448_verify_msg(use->signature, len, text, text_len, &fits, &ed,
						NULL, 0);
		wc_ed448_free(&ed);
	}
	return r == 0 && fits != 1 ? -EKEYREJECTED : eddyi_wolfcrypt_error(r, -EKEYREJECTED);
}

const struct eddyi_jwk_kind eddyi_jwk_okp = {
	.kty = "OKP",
	.members = { "x", "d" },
	.count = 2,
	.public_count = 1,
	.curves = curves,
	.curve_count = sizeof(curves) / sizeof(curves[0]),
	.verify_at = EDDYI_ON_LOOP_STACK,
	.sign_at = EDDYI_OFFLOADED,
	.check = check,
	.check_private = check_private,
	.signature_len = signature_len,
	.sign = sign,
	.verify = verify,
};
