#include "wolfcrypt.h"

#include "keys.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <wolfssl/wolfcrypt/ecc.h>

#define FIELD_MAX 66
#define POINT_MAX (1 + 2 * FIELD_MAX)

static struct curve {
	int id; /* of wolfSSL */
	int nid;
	const char *name;
	unsigned len; /* of a coordinate or private key */
	EC_GROUP *group;
} curves[] = {
	{ ECC_SECP256R1, NID_X9_62_prime256v1, "P-256", 32, NULL },
	{ ECC_SECP384R1, NID_secp384r1, "P-384", 48, NULL },
	{ ECC_SECP521R1, NID_secp521r1, "P-521", 66, NULL },
};

bool eddyi_ec_open(void)
{
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
		curves[i].group = EC_GROUP_new_by_curve_name(curves[i].nid);
		if (!curves[i].group)
			return false;
	}
	return true;
}

/* Return: NULL if the curve is not supported. */
static const struct curve *find_curve(int id)
{
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
		if (curves[i].id == id)
			return &curves[i];
	return NULL;
}

static const struct curve *curve_of(const ecc_key *key)
{
	return key && key->dp ? find_curve(key->dp->id) : NULL;
}

/* Return: false if there is no private key. */
static bool export_private(ecc_key *key, const struct curve *curve, unsigned char *bytes)
{
	word32 len = curve->len;

	return wc_ecc_export_private_only(key, bytes, &len) == 0 && len == curve->len;
}

/* ---- signatures ---- */

/* Return: NULL on allocation failure. */
static EVP_PKEY *make(const struct curve *curve, const unsigned char *private)
{
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	BIGNUM *number = BN_secure_new();
	EVP_PKEY *key = NULL;

	if (builder && number && BN_bin2bn(private, (int)curve->len, number) &&
	    OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve->name, 0) &&
	    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, number)) {
		key = eddyi_keys_make("EC", EVP_PKEY_KEYPAIR, builder);
		builder = NULL;
	}
	BN_clear_free(number);
	OSSL_PARAM_BLD_free(builder);
	return key;
}

/* Return: NULL if there is no private key. */
static EVP_PKEY *find_key(ecc_key *ecc, const struct curve *curve)
{
	unsigned generation = eddyi_keys_generation();
	unsigned char private[FIELD_MAX];
	EVP_PKEY *key = NULL;

	if (export_private(ecc, curve, private)) {
		key = eddyi_keys_find(private, curve->len);
		if (!key && (key = make(curve, private)))
			eddyi_keys_keep(key, private, curve->len, generation);
	}
	OPENSSL_cleanse(private, sizeof(private));
	return key;
}

static int sign(const wc_CryptoInfo *info)
{
	const struct curve *curve = curve_of(info->pk.eccsign.key);
	EVP_PKEY *key = curve ? find_key(info->pk.eccsign.key, curve) : NULL;
	EVP_PKEY_CTX *context = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;
	size_t len = *info->pk.eccsign.outlen;
	bool ok = context && EVP_PKEY_sign_init(context) == 1 &&
		  EVP_PKEY_sign(context, info->pk.eccsign.out, &len, info->pk.eccsign.in,
				info->pk.eccsign.inlen) == 1;

	EVP_PKEY_CTX_free(context);
	EVP_PKEY_free(key);
	/* wolfSSL still has its input, and signs itself. */
	if (!ok) {
		ERR_clear_error();
		return CRYPTOCB_UNAVAILABLE;
	}
	*info->pk.eccsign.outlen = (word32)len;
	return 0;
}

/* ---- key exchange ---- */

/* Multiply a point, or else the generator, by k, in constant time. Return: 0; a wolfSSL error. */
static int multiply(const struct curve *curve, EC_POINT *result, const EC_POINT *point,
		    const BIGNUM *k, BN_CTX *scratch)
{
	if (!EC_POINT_mul(curve->group, result, point ? NULL : k, point, point ? k : NULL, scratch))
		return MEMORY_E;
	return EC_POINT_is_at_infinity(curve->group, result) ? ECC_INF_E : 0;
}

static int derive(const struct curve *curve, const BIGNUM *private, const unsigned char *peer,
		  word32 peer_len, unsigned char *out, BN_CTX *scratch)
{
	EC_POINT *theirs = EC_POINT_new(curve->group), *shared = EC_POINT_new(curve->group);
	BIGNUM *x = BN_secure_new();
	int r = theirs && shared && x ? 0 : MEMORY_E;

	/* This checks that the point is on the curve. The curves have prime order. */
	if (r == 0 && !EC_POINT_oct2point(curve->group, theirs, peer, peer_len, scratch))
		r = IS_POINT_E;
	if (r == 0)
		r = multiply(curve, shared, theirs, private, scratch);
	if (r == 0 && (!EC_POINT_get_affine_coordinates(curve->group, shared, x, NULL, scratch) ||
		       BN_bn2binpad(x, out, (int)curve->len) < 0))
		r = MEMORY_E;
	BN_clear_free(x);
	EC_POINT_clear_free(shared);
	EC_POINT_free(theirs);
	return r;
}

static BIGNUM *read_private(ecc_key *key, const struct curve *curve)
{
	unsigned char bytes[FIELD_MAX];
	BIGNUM *number = BN_secure_new();

	if (number)
		BN_set_flags(number, BN_FLG_CONSTTIME);
	if (!number || !export_private(key, curve, bytes) ||
	    !BN_bin2bn(bytes, (int)curve->len, number)) {
		BN_clear_free(number);
		number = NULL;
	}
	OPENSSL_cleanse(bytes, sizeof(bytes));
	return number;
}

static int exchange(const wc_CryptoInfo *info)
{
	const struct curve *curve = curve_of(info->pk.ecdh.private_key);
	unsigned char peer[POINT_MAX];
	word32 peer_len = sizeof(peer);
	BN_CTX *scratch;
	BIGNUM *private;
	int r = MEMORY_E;

	if (!curve || curve_of(info->pk.ecdh.public_key) != curve ||
	    *info->pk.ecdh.outlen < curve->len ||
	    wc_ecc_export_x963(info->pk.ecdh.public_key, peer, &peer_len) != 0)
		return CRYPTOCB_UNAVAILABLE;
	private = read_private(info->pk.ecdh.private_key, curve);
	scratch = BN_CTX_secure_new();
	if (private && scratch)
		r = derive(curve, private, peer, peer_len, info->pk.ecdh.out, scratch);
	if (r == 0)
		*info->pk.ecdh.outlen = curve->len;
	else
		ERR_clear_error();
	BN_CTX_free(scratch);
	BN_clear_free(private);
	return r;
}

/* ---- key generation ---- */

/* Choose a number from 1 to the order - 1. */
static bool draw(const struct curve *curve, BIGNUM *private)
{
	const BIGNUM *order = EC_GROUP_get0_order(curve->group);

	do {
		if (!BN_priv_rand_range(private, order))
			return false;
	} while (BN_is_zero(private));
	return true;
}

static int generate(const struct curve *curve, ecc_key *key, BIGNUM *private, BN_CTX *scratch)
{
	EC_POINT *public = EC_POINT_new(curve->group);
	unsigned char d[FIELD_MAX], point[POINT_MAX];
	int r = public && draw(curve, private) ? 0 : MEMORY_E;

	if (r == 0)
		r = multiply(curve, public, NULL, private, scratch);
	if (r == 0 && (EC_POINT_point2oct(curve->group, public, POINT_CONVERSION_UNCOMPRESSED,
					  point, sizeof(point), scratch) != 1 + 2 * curve->len ||
		       BN_bn2binpad(private, d, (int)curve->len) < 0))
		r = MEMORY_E;
	if (r == 0)
		r = wc_ecc_import_unsigned(key, point + 1, point + 1 + curve->len, d, curve->id);
	OPENSSL_cleanse(d, sizeof(d));
	EC_POINT_free(public);
	return r;
}

static int make_key(const wc_CryptoInfo *info)
{
	const struct curve *curve = curve_of(info->pk.eckg.key);
	BIGNUM *private = curve ? BN_secure_new() : NULL;
	BN_CTX *scratch = private ? BN_CTX_secure_new() : NULL;
	int r = CRYPTOCB_UNAVAILABLE;

	if (scratch) {
		BN_set_flags(private, BN_FLG_CONSTTIME);
		r = generate(curve, info->pk.eckg.key, private, scratch);
	}
	if (r != 0)
		ERR_clear_error();
	BN_CTX_free(scratch);
	BN_clear_free(private);
	return r;
}

int eddyi_ec(const wc_CryptoInfo *info)
{
	switch (info->pk.type) {
	case WC_PK_TYPE_ECDSA_SIGN:
		return sign(info);
	case WC_PK_TYPE_ECDH:
		return exchange(info);
	case WC_PK_TYPE_EC_KEYGEN:
		return make_key(info);
	default:
		return CRYPTOCB_UNAVAILABLE;
	}
}
