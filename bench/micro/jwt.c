/* What it takes to verify a signature:
 *
 *     jwt token|key|bare ALG SECONDS
 *
 * token: eddy_jwt_parse() and eddy_jwt_verify() of a token; key: eddy_jwk_verify() of its signature alone; bare: wolfCrypt's
 * functions, by a key object that is made once. Key, text and signature are the same. ALG is one of signed.h.
 */
#include "jwt/jwk.h"

#include "signed.h"

#include <eddy/loop.h>
#include <wolfssl/wolfcrypt/asn.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/ed25519.h>
#include <wolfssl/wolfcrypt/ed448.h>
#include <wolfssl/wolfcrypt/hmac.h>
#include <wolfssl/wolfcrypt/rsa.h>
#include <wolfssl/wolfcrypt/wolfmath.h>

static struct signed_token token;
static struct eddy_keyset *set;

/* ---- eddy's ---- */

static void verify_key(void)
{
	if (eddy_jwk_verify(token.key, token.alg, token.signed_text, token.signature) != 0)
		micro_die("eddy_jwk_verify");
}

static void verify_token(void)
{
	static const char *const audiences[] = { SIGNED_AUDIENCE, NULL };
	const struct eddy_jwt_options options = { .issuer = SIGNED_ISSUER, .audiences = audiences };
	struct eddy_jwt *parsed;

	if (eddy_jwt_parse(eddy_str_from(token.text), EDDY_JWS_BIT(token.alg), &parsed) != 0 ||
	    eddy_jwt_verify(parsed, set, &options) != 0)
		micro_die("eddy_jwt_verify");
	eddy_jwt_unref(parsed);
}

/* ---- bare ---- */

static union {
	Hmac hmac;
	RsaKey rsa;
	ecc_key ecc;
	ed25519_key ed25519;
	ed448_key ed448;
} bare;

static const struct eddyi_digest *digest;
static unsigned char hash[EDDYI_DIGEST_MAX];

static void hash_text(void)
{
	if (wc_Hash(digest->type, eddyi_bytes(token.signed_text), (word32)token.signed_text.len,
		    hash, digest->len) != 0)
		micro_die("wc_Hash");
}

static void verify_hmac(void)
{
	if (wc_HmacUpdate(&bare.hmac, eddyi_bytes(token.signed_text),
			  (word32)token.signed_text.len) != 0 ||
	    wc_HmacFinal(&bare.hmac, hash) != 0 ||
	    memcmp(hash, token.signature.ptr, digest->len) != 0)
		micro_die("wc_HmacFinal");
}

static void verify_rsa(void)
{
	unsigned char content[EDDYI_RSA_BYTES_MAX], expected[EDDYI_DIGEST_MAX + 32];
	word32 len;
	int r;

	hash_text();
	r = wc_RsaSSL_Verify(eddyi_bytes(token.signature), (word32)token.signature.len, content,
			     sizeof(content), &bare.rsa);
	len = wc_EncodeSignature(expected, hash, digest->len, SHA256h);
	if (r < 0 || (word32)r != len || memcmp(content, expected, len) != 0)
		micro_die("wc_RsaSSL_Verify");
}

static void verify_pss(void)
{
	unsigned char content[EDDYI_RSA_BYTES_MAX];

	hash_text();
	if (wc_RsaPSS_VerifyCheck((byte *)token.signature.ptr, (word32)token.signature.len, content,
				  sizeof(content), hash, digest->len, digest->type, digest->mgf,
				  &bare.rsa) < 0)
		micro_die("wc_RsaPSS_VerifyCheck");
}

static void verify_ecc(void)
{
	size_t width = token.signature.len / 2;
	const unsigned char *bytes = eddyi_bytes(token.signature);
	mp_int r, s;
	int fits = 0;

	hash_text();
	if (mp_init_multi(&r, &s, NULL, NULL, NULL, NULL) != 0 ||
	    mp_read_unsigned_bin(&r, bytes, (word32)width) != 0 ||
	    mp_read_unsigned_bin(&s, bytes + width, (word32)width) != 0 ||
	    wc_ecc_verify_hash_ex(&r, &s, hash, digest->len, &fits, &bare.ecc) != 0 || fits != 1)
		micro_die("wc_ecc_verify_hash_ex");
}

static void verify_ed25519(void)
{
	int fits = 0;

	if (wc_ed25519_verify_msg(eddyi_bytes(token.signature), (word32)token.signature.len,
				  eddyi_bytes(token.signed_text), (word32)token.signed_text.len,
				  &fits, &bare.ed25519) != 0 ||
	    fits != 1)
		micro_die("wc_ed25519_verify_msg");
}

static void verify_ed448(void)
{
	int fits = 0;

	if (wc_ed448_verify_msg(eddyi_bytes(token.signature), (word32)token.signature.len,
				eddyi_bytes(token.signed_text), (word32)token.signed_text.len,
				&fits, &bare.ed448, NULL, 0) != 0 ||
	    fits != 1)
		micro_die("wc_ed448_verify_msg");
}

/* Return: 0, or wolfCrypt's error. */
static int make_okp(const unsigned char *x, bool is_448)
{
	int r = is_448 ? wc_ed448_init(&bare.ed448) : wc_ed25519_init(&bare.ed25519);

	if (r != 0)
		return r;
	return is_448 ? wc_ed448_import_public(x, ED448_PUB_KEY_SIZE, &bare.ed448) :
			wc_ed25519_import_public(x, ED25519_PUB_KEY_SIZE, &bare.ed25519);
}

static int make_rsa(const struct eddy_str *numbers)
{
	int r = wc_InitRsaKey(&bare.rsa, NULL);

	return r != 0 ? r :
			wc_RsaPublicKeyDecodeRaw(eddyi_bytes(numbers[0]), (word32)numbers[0].len,
						 eddyi_bytes(numbers[1]), (word32)numbers[1].len,
						 &bare.rsa);
}

static int make_hmac(void)
{
	int r = wc_HmacInit(&bare.hmac, NULL, INVALID_DEVID);

	return r != 0 ? r :
			wc_HmacSetKey(&bare.hmac, WC_SHA256, (const byte *)SIGNED_SECRET,
				      (word32)strlen(SIGNED_SECRET));
}

static int make_ecc(const struct eddy_str *numbers)
{
	int r = wc_ecc_init(&bare.ecc);

	return r != 0 ? r :
			wc_ecc_import_unsigned(&bare.ecc, (byte *)numbers[0].ptr,
					       (byte *)numbers[1].ptr, NULL, token.key->curve->id);
}

/* Make the key. Return: what verifies by it. */
static void (*make_bare(void))(void)
{
	const struct eddy_str *numbers = token.key->numbers;
	bool is_448 = token.key->curve && token.key->curve->width == ED448_PUB_KEY_SIZE;
	void (*verify)(void);
	int r;

	digest = eddyi_jws_digest(token.alg);
	if (token.key->kind == &eddyi_jwk_oct) {
		r = make_hmac();
		verify = verify_hmac;
	} else if (token.key->kind == &eddyi_jwk_rsa) {
		r = make_rsa(numbers);
		verify = token.alg == EDDY_JWS_PS256 ? verify_pss : verify_rsa;
	} else if (token.key->kind == &eddyi_jwk_ec) {
		r = make_ecc(numbers);
		verify = verify_ecc;
	} else {
		r = make_okp(eddyi_bytes(numbers[0]), is_448);
		verify = is_448 ? verify_ed448 : verify_ed25519;
	}
	if (r != 0)
		micro_die("a key of wolfCrypt's");
	return verify;
}

struct job {
	void (*verify)(void);
	double seconds;
};

/* In a loop, which has the pool. */
static int measure(void *arg)
{
	const struct job *job = arg;

	signed_measure(job->verify, job->seconds);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc == 4 ? argv[1] : "";
	bool is_bare = strcmp(what, "bare") == 0;
	struct job job = { .verify = strcmp(what, "key") == 0 ? verify_key : verify_token };

	if (!is_bare && strcmp(what, "key") != 0 && strcmp(what, "token") != 0) {
		fputs("usage: jwt token|key|bare ALG SECONDS\n", stderr);
		return 2;
	}
	job.seconds = strtod(argv[3], NULL);
	token = signed_make(argv[2]);
	set = eddy_keyset_of(token.key);
	if (!is_bare)
		return eddy_run(NULL, measure, &job) < 0;
	signed_measure(make_bare(), job.seconds);
	return 0;
}
