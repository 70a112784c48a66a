/* What it takes OpenSSL to verify a signature, by a key object that is made once: the same as jwt.c does.
 *
 *     jwt-openssl ALG SECONDS
 */
#include "signed.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

static struct signed_token token;
static EVP_PKEY *key;
static const EVP_MD *digest; /* NULL: its own */
static EVP_MD_CTX *context;
static unsigned char *signature;
static size_t signature_len;

static void verify_hmac(void)
{
	unsigned char expected[EVP_MAX_MD_SIZE];
	size_t len = sizeof(expected);

	if (EVP_DigestSignInit(context, NULL, digest, NULL, key) != 1 ||
	    EVP_DigestSign(context, expected, &len, (const unsigned char *)token.signed_text.ptr,
			   token.signed_text.len) != 1 ||
	    len != signature_len || CRYPTO_memcmp(expected, signature, len) != 0)
		micro_die("EVP_DigestSign");
}

static void verify(void)
{
	EVP_PKEY_CTX *options;

	EVP_MD_CTX_reset(context);
	if (EVP_DigestVerifyInit(context, &options, digest, NULL, key) != 1 ||
	    (token.alg == EDDY_JWS_PS256 &&
	     EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) != 1) ||
	    EVP_DigestVerify(context, signature, signature_len,
			     (const unsigned char *)token.signed_text.ptr,
			     token.signed_text.len) != 1)
		micro_die("EVP_DigestVerify");
}

/* ECDSA's two halves as DER, which OpenSSL wants. */
static void to_der(void)
{
	const unsigned char *bytes = (const unsigned char *)token.signature.ptr;
	int width = (int)token.signature.len / 2;
	ECDSA_SIG *sig = ECDSA_SIG_new();
	int len;

	ECDSA_SIG_set0(sig, BN_bin2bn(bytes, width, NULL), BN_bin2bn(bytes + width, width, NULL));
	signature = NULL;
	len = i2d_ECDSA_SIG(sig, &signature);
	ECDSA_SIG_free(sig);
	if (len < 0)
		micro_die("i2d_ECDSA_SIG");
	signature_len = (size_t)len;
}

static void make_key(void)
{
	BIO *bio;

	if (!token.pem) {
		key = EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, NULL,
						   (const unsigned char *)SIGNED_SECRET,
						   strlen(SIGNED_SECRET));
	} else {
		bio = BIO_new_mem_buf(token.pem, -1);
		key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
		BIO_free(bio);
	}
	if (!key)
		micro_die("a key of OpenSSL's");
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: jwt-openssl ALG SECONDS\n", stderr);
		return 2;
	}
	token = signed_make(argv[1]);
	make_key();
	context = EVP_MD_CTX_new();
	signature = (unsigned char *)token.signature.ptr;
	signature_len = token.signature.len;
	if (token.alg == EDDY_JWS_ES384)
		digest = EVP_sha384();
	else if (token.alg == EDDY_JWS_ES512)
		digest = EVP_sha512();
	else if (token.alg != EDDY_JWS_EDDSA)
		digest = EVP_sha256();
	if (token.alg >= EDDY_JWS_ES256 && token.alg <= EDDY_JWS_ES512)
		to_der();
	signed_measure(token.pem ? verify : verify_hmac, strtod(argv[2], NULL));
	return 0;
}
