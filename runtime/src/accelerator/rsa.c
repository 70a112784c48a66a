#include "wolfcrypt.h"

#include "keys.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <wolfssl/wolfcrypt/rsa.h>

#define BYTES_MAX EDDYI_KEY_ID_MAX
#define EXPONENT_MAX 8

/* ---- making a key ---- */

/* The parts of a key that wolfSSL exports. */
struct numbers {
	unsigned char e[EXPONENT_MAX], n[BYTES_MAX], d[BYTES_MAX], p[BYTES_MAX], q[BYTES_MAX];
	word32 e_len, n_len, d_len, p_len, q_len;
};

enum { N, E, D, P, Q, D_P, D_Q, Q_INVERSE, NUMBERS };

static const char *const names[NUMBERS] = {
	OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,
	OSSL_PKEY_PARAM_RSA_D,         OSSL_PKEY_PARAM_RSA_FACTOR1,
	OSSL_PKEY_PARAM_RSA_FACTOR2,   OSSL_PKEY_PARAM_RSA_EXPONENT1,
	OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
};

static BIGNUM *secret(const unsigned char *bytes, word32 len)
{
	BIGNUM *number = BN_secure_new();

	if (number)
		BN_set_flags(number, BN_FLG_CONSTTIME);
	return number && BN_bin2bn(bytes, (int)len, number) ? number : NULL;
}

/* Compute d mod (prime - 1). */
static bool reduce(BIGNUM *result, const BIGNUM *d, const BIGNUM *prime, BN_CTX *scratch)
{
	BIGNUM *less = BN_dup(prime);
	bool ok = less && BN_sub_word(less, 1);

	if (ok) {
		BN_set_flags(less, BN_FLG_CONSTTIME);
		ok = BN_mod(result, d, less, scratch);
	}
	BN_clear_free(less);
	return ok;
}

/* Return: false on allocation failure, or if the numbers are no key. */
static bool derive(BIGNUM *all[NUMBERS], const struct numbers *numbers, BN_CTX *scratch)
{
	all[N] = BN_bin2bn(numbers->n, (int)numbers->n_len, NULL);
	all[E] = BN_bin2bn(numbers->e, (int)numbers->e_len, NULL);
	all[D] = secret(numbers->d, numbers->d_len);
	all[P] = secret(numbers->p, numbers->p_len);
	all[Q] = secret(numbers->q, numbers->q_len);
	for (int i = D_P; i < NUMBERS; i++)
		all[i] = secret(NULL, 0);
	for (int i = 0; i < NUMBERS; i++)
		if (!all[i])
			return false;
	return reduce(all[D_P], all[D], all[P], scratch) &&
	       reduce(all[D_Q], all[D], all[Q], scratch) &&
	       BN_mod_inverse(all[Q_INVERSE], all[Q], all[P], scratch);
}

static EVP_PKEY *build(BIGNUM *const all[NUMBERS])
{
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	bool ok = builder;

	for (int i = 0; ok && i < NUMBERS; i++)
		ok = OSSL_PARAM_BLD_push_BN(builder, names[i], all[i]);
	if (ok)
		return eddyi_keys_make("RSA", EVP_PKEY_KEYPAIR, builder);
	OSSL_PARAM_BLD_free(builder);
	return NULL;
}

static EVP_PKEY *make(const struct numbers *numbers)
{
	BIGNUM *all[NUMBERS] = { NULL };
	BN_CTX *scratch = BN_CTX_secure_new();
	EVP_PKEY *key = scratch && derive(all, numbers, scratch) ? build(all) : NULL;

	for (int i = 0; i < NUMBERS; i++)
		BN_clear_free(all[i]);
	BN_CTX_free(scratch);
	return key;
}

/* Return: NULL if there is no private key, or libcrypto rejects it. */
static EVP_PKEY *find(RsaKey *rsa)
{
	struct numbers numbers = { .e_len = EXPONENT_MAX, .n_len = BYTES_MAX };
	unsigned generation = eddyi_keys_generation();
	EVP_PKEY *key;

	if (rsa->type != RSA_PRIVATE ||
	    wc_RsaFlattenPublicKey(rsa, numbers.e, &numbers.e_len, numbers.n, &numbers.n_len) != 0)
		return NULL;
	key = eddyi_keys_find(numbers.n, numbers.n_len);
	if (key)
		return key;
	numbers.e_len = EXPONENT_MAX;
	numbers.n_len = numbers.d_len = numbers.p_len = numbers.q_len = BYTES_MAX;
	if (wc_RsaExportKey(rsa, numbers.e, &numbers.e_len, numbers.n, &numbers.n_len, numbers.d,
			    &numbers.d_len, numbers.p, &numbers.p_len, numbers.q,
			    &numbers.q_len) == 0)
		key = make(&numbers);
	if (key)
		eddyi_keys_keep(key, numbers.n, numbers.n_len, generation);
	OPENSSL_cleanse(&numbers, sizeof(numbers));
	return key;
}

/* ---- using a key ---- */

static bool apply(EVP_PKEY *key, const wc_CryptoInfo *info, size_t *ret_len)
{
	EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
	bool ok;

	*ret_len = *info->pk.rsa.outLen;
	ok = context && EVP_PKEY_decrypt_init(context) == 1 &&
	     EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1 &&
	     EVP_PKEY_decrypt(context, info->pk.rsa.out, ret_len, info->pk.rsa.in,
			      info->pk.rsa.inLen) == 1;
	EVP_PKEY_CTX_free(context);
	return ok;
}

int eddyi_rsa(const wc_CryptoInfo *info)
{
	int type = info->pk.rsa.type;
	EVP_PKEY *key;
	size_t len;
	bool ok;

	if (type != RSA_PRIVATE_ENCRYPT && type != RSA_PRIVATE_DECRYPT)
		return CRYPTOCB_UNAVAILABLE;
	key = find(info->pk.rsa.key);
	/* wolfSSL checks these too; raw input of another length is left to it. */
	if (!key || info->pk.rsa.inLen != (word32)EVP_PKEY_get_size(key) ||
	    *info->pk.rsa.outLen < info->pk.rsa.inLen) {
		EVP_PKEY_free(key);
		ERR_clear_error();
		return CRYPTOCB_UNAVAILABLE;
	}
	ok = apply(key, info, &len);
	EVP_PKEY_free(key);
	if (!ok) {
		ERR_clear_error();
		return RSA_BUFFER_E;
	}
	*info->pk.rsa.outLen = (word32)len;
	return 0;
}
