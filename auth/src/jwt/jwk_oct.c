/* Secrets: HMAC with SHA-2 (RFC 7518 section 3.2). */
#include "jwk.h"

#include <errno.h>
#include <wolfssl/wolfcrypt/hmac.h>

/* "A key of the same size as the hash output … or larger MUST be used." */
static int check(struct eddy_jwk *key)
{
	for (unsigned alg = EDDY_JWS_HS256; alg <= EDDY_JWS_HS512; alg++)
		if (key->numbers[0].len >= eddyi_jws_digest((enum eddy_jws_alg)alg)->len)
			key->algs |= EDDY_JWS_BIT(alg);
	if (key->numbers[0].len > EDDY_JWS_TEXT_MAX)
		return -ENOTSUP;
	return key->algs ? 0 : -EKEYREJECTED;
}

static size_t signature_len(const struct eddy_jwk *key, enum eddy_jws_alg alg)
{
	(void)key;
	return eddyi_jws_digest(alg)->len;
}

static int sign(const struct eddyi_jws_use *use)
{
	struct eddy_str secret = use->key->numbers[0];
	Hmac hmac;
	int r = wc_HmacInit(&hmac, NULL, INVALID_DEVID);

	if (r == 0)
		r = wc_HmacSetKey(&hmac, eddyi_jws_digest(use->alg)->hmac, eddyi_bytes(secret),
				  (word32)secret.len);
	if (r == 0)
		r = wc_HmacUpdate(&hmac, eddyi_bytes(use->text), (word32)use->text.len);
	if (r == 0)
		r = wc_HmacFinal(&hmac, use->ret_signature);
	wc_HmacFree(&hmac);
	explicit_bzero(&hmac, sizeof(hmac));
	return eddyi_wolfcrypt_error(r, -EIO);
}

static int verify(const struct eddyi_jws_use *use)
{
	unsigned char expected[EDDYI_DIGEST_MAX];
	struct eddyi_jws_use again = *use;
	unsigned char differs = 0;
	int r;

	again.ret_signature = expected;
	r = sign(&again);
	if (r < 0)
		return r;
	/* Compare in constant time. */
	for (size_t i = 0; i < signature_len(use->key, use->alg); i++)
		differs |= expected[i] ^ use->signature[i];
	explicit_bzero(expected, sizeof(expected));
	return differs ? -EKEYREJECTED : 0;
}

const struct eddyi_jwk_kind eddyi_jwk_oct = {
	.kty = "oct",
	.members = { "k" },
	.count = 1,
	.verify_at = EDDYI_IN_PLACE,
	.sign_at = EDDYI_IN_PLACE,
	.check = check,
	.signature_len = signature_len,
	.sign = sign,
	.verify = verify,
};
