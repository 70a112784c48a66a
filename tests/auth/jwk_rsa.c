/* Tests of jwk_rsa.c: the numbers of a key, and what stands in a signature. */
#include "jwt/jws.h"

#include "jwt/jwk.h"
#include "keys.h"
#include "pems.h"
#include "rfc.h"
#include "tokens.h"

#include <errno.h>
#include <wolfssl/wolfcrypt/rsa.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static const struct eddy_str text = { "text", 4 };

/* An RSA key of these bytes. */
static int read_modulus(const unsigned char *n, size_t len)
{
	char json[2000], base64url[EDDYI_BASE64URL_ENCODED(600)];
	struct eddy_jwk *key = NULL;
	int r;

	snprintf(json, sizeof(json), "{'kty':'RSA','e':'AQAB','n':'%.*s'}",
		 (int)eddyi_base64url_encode(n, len, base64url), base64url);
	r = keys_read(json, &key);
	eddy_jwk_unref(key);
	return r;
}

Test(jwk_rsa, modulus_has_a_size)
{
	struct eddy_str n = keys_decode(RFC_RSA_N);
	unsigned char *bytes = (unsigned char *)n.ptr, long_one[513];

	memset(long_one, 0xff, sizeof(long_one));
	cr_expect(eq(int, read_modulus(long_one, 513), -ENOTSUP));
	cr_expect(eq(int, read_modulus(long_one, 255), -EKEYREJECTED));
	cr_expect(eq(int, read_modulus(long_one, 512), -EKEYREJECTED), "3 divides it");
	cr_expect(zero(int, read_modulus(bytes, n.len)));
	bytes[0] &= 0x7f;
	cr_expect(eq(int, read_modulus(bytes, n.len), -EKEYREJECTED), "2047 bits");
	free(bytes);
}

/* Whatever else divides it, or does not. */
Test(jwk_rsa, modulus_is_odd)
{
	struct eddy_str n = keys_decode(RFC_RSA_N);
	unsigned char *bytes = (unsigned char *)n.ptr;

	for (unsigned last = 0; last < 256; last += 2) {
		bytes[n.len - 1] = (unsigned char)last;
		cr_expect(eq(int, read_modulus(bytes, n.len), -EKEYREJECTED), "%u", last);
	}
	free(bytes);
}

/* ROCA: modulo each prime up to 167 this one is 1, a power of 65537 as any. The other is no more than an odd number. */
Test(jwk_rsa, modulus_is_of_no_known_form)
{
	static const unsigned char tail[] = {
		0x06, 0x69, 0x7e, 0xbe, 0xd2, 0xc9, 0xcb, 0x1b, 0x81, 0x05, 0x85, 0x59, 0x3f, 0x81,
		0xda, 0x32, 0x0d, 0xfa, 0xb1, 0x0b, 0xdf, 0x2e, 0x0f, 0x1d, 0x9e, 0x80, 0x2f, 0xcf,
	};
	unsigned char n[256] = { 0x80 };

	memcpy(n + sizeof(n) - sizeof(tail), tail, sizeof(tail));
	cr_expect(eq(int, read_modulus(n, sizeof(n)), -EKEYREJECTED));
	n[255] = 0xcd;
	cr_expect(zero(int, read_modulus(n, sizeof(n))));
}

/* The same modulo n is the same to RSA. */
Test(jwk_rsa, signatures_are_below_the_modulus)
{
	struct eddy_jwk *key = keys_pem(pem_rsa_pkcs8, 0);
	int tried = 0;

	for (unsigned char i = 0; i < 20; i++) {
		struct eddy_str one = eddy_str((char *)&i, 1);
		unsigned char signature[EDDY_JWS_SIGNATURE_MAX];

		cr_assert(eq(int, (int)eddy_jwk_sign(key, EDDY_JWS_RS256, one, signature), 256));
		if (!keys_add(signature, eddyi_bytes(key->numbers[0]), 256))
			continue;
		cr_expect(eq(int,
			     eddy_jwk_verify(key, EDDY_JWS_RS256, one,
					     eddy_str((char *)signature, 256)),
			     -EKEYREJECTED));
		tried++;
	}
	cr_expect(gt(int, tried, 0));
	eddy_jwk_unref(key);
}

/* ---- who has the private key, and does otherwise ---- */

struct signer {
	struct eddy_jwk *key;
	RsaKey rsa;
	WC_RNG rng;
	unsigned char hash[32], signature[256];
};

static void signer_init(struct signer *signer)
{
	struct eddy_jwk *key = keys_parse("{" RFC_RSA_PRIVATE "}");
	RsaKey *rsa = &signer->rsa;
	mp_int *const numbers[] = { &rsa->n, &rsa->e,  &rsa->d,  &rsa->p,
				    &rsa->q, &rsa->dP, &rsa->dQ, &rsa->u };

	signer->key = key;
	cr_assert(zero(int, wc_InitRng(&signer->rng)));
	cr_assert(zero(int, wc_InitRsaKey(rsa, NULL)));
	rsa->type = RSA_PRIVATE;
	for (size_t i = 0; i < COUNT(numbers); i++)
		cr_assert(zero(int, mp_read_unsigned_bin(numbers[i], eddyi_bytes(key->numbers[i]),
							 (word32)key->numbers[i].len)));
	cr_assert(zero(int, wc_RsaSetRNG(rsa, &signer->rng)));
	cr_assert(zero(int, wc_Hash(WC_HASH_TYPE_SHA256, eddyi_bytes(text), (word32)text.len,
				    signer->hash, sizeof(signer->hash))));
}

static void signer_deinit(struct signer *signer)
{
	wc_FreeRsaKey(&signer->rsa);
	wc_FreeRng(&signer->rng);
	eddy_jwk_unref(signer->key);
}

static int verify(struct signer *signer, enum eddy_jws_alg alg)
{
	return eddy_jwk_verify(signer->key, alg, text,
			       eddy_str((char *)signer->signature, sizeof(signer->signature)));
}

#define SHA256_OID "\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01"
#define SHA512_OID "\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03"
#define INFO "\x30\x31\x30\x0d" SHA256_OID "\x05\x00\x04\x20"

/* RFC 8017 section 9.2. All of these are read as right by somebody. */
static const struct {
	struct eddy_str info; /* what stands before the hash */
	unsigned char first, type, fill, end;
	size_t rest; /* bytes behind the hash */
	int r;
} contents[] = {
	{ STR(INFO), 0, 1, 0xff, 0, 0, 0 },
	{ STR(INFO), 1, 1, 0xff, 0, 0, -EKEYREJECTED },
	{ STR(INFO), 0, 0, 0xff, 0, 0, -EKEYREJECTED },
	{ STR(INFO), 0, 0, 0x00, 0, 0, -EKEYREJECTED },
	{ STR(INFO), 0, 2, 0xff, 0, 0, -EKEYREJECTED },
	{ STR(INFO), 0, 2, 0x01, 0, 0, -EKEYREJECTED },
	{ STR(INFO), 0, 1, 0xfe, 0, 0, -EKEYREJECTED },
	{ STR(INFO), 0, 1, 0xff, 0xff, 0, -EKEYREJECTED },
	/* The padding is shorter: what follows is free to be chosen (Bleichenbacher, 2006). */
	{ STR(INFO), 0, 1, 0xff, 0, 1, -EKEYREJECTED },
	{ STR(INFO), 0, 1, 0xff, 0, 194, -EKEYREJECTED },
	{ STR(INFO), 0, 1, 0xff, 0, 202, -EKEYREJECTED },
	/* Without NULL, with another, and with a length of two bytes. */
	{ STR("\x30\x2f\x30\x0b" SHA256_OID "\x04\x20"), 0, 1, 0xff, 0, 0, -EKEYREJECTED },
	{ STR("\x30\x32\x30\x0e" SHA256_OID "\x05\x01\x00\x04\x20"), 0, 1, 0xff, 0, 0,
	  -EKEYREJECTED },
	{ STR("\x30\x31\x30\x0d" SHA256_OID "\x04\x00\x04\x20"), 0, 1, 0xff, 0, 0, -EKEYREJECTED },
	{ STR("\x30\x81\x31\x30\x0d" SHA256_OID "\x05\x00\x04\x20"), 0, 1, 0xff, 0, 0,
	  -EKEYREJECTED },
	{ STR("\x30\x80\x30\x0d" SHA256_OID "\x05\x00\x04\x20"), 0, 1, 0xff, 0, 0, -EKEYREJECTED },
	/* Of another digest, and the hash alone. */
	{ STR("\x30\x31\x30\x0d" SHA512_OID "\x05\x00\x04\x20"), 0, 1, 0xff, 0, 0, -EKEYREJECTED },
	{ STR(""), 0, 1, 0xff, 0, 0, -EKEYREJECTED },
	{ STR("\x04\x20"), 0, 1, 0xff, 0, 0, -EKEYREJECTED },
};

Test(jwk_rsa, the_content_of_a_signature_is_compared_as_a_whole)
{
	struct signer signer;

	signer_init(&signer);
	for (size_t i = 0; i < COUNT(contents); i++) {
		size_t tail = contents[i].info.len + sizeof(signer.hash) + contents[i].rest;
		unsigned char content[256] = { contents[i].first, contents[i].type };
		word32 len = sizeof(signer.signature);
		unsigned char *at = content + sizeof(content) - tail;

		memset(content + 2, contents[i].fill, sizeof(content) - 3 - tail);
		at[-1] = contents[i].end;
		memcpy(at, contents[i].info.ptr, contents[i].info.len);
		memcpy(at + contents[i].info.len, signer.hash, sizeof(signer.hash));
		cr_assert(eq(int,
			     wc_RsaDirect(content, sizeof(content), signer.signature, &len,
					  &signer.rsa, RSA_PRIVATE_ENCRYPT, &signer.rng),
			     256));
		cr_expect(eq(int, verify(&signer, EDDY_JWS_RS256), contents[i].r), "%zu", i);
	}
	signer_deinit(&signer);
}

/* RFC 7518 section 3.5: the salt is as long as the digest, which MGF1 has as well. */
Test(jwk_rsa, salt_has_one_length)
{
	static const struct {
		int salt_len, mgf, r;
	} rows[] = {
		{ 32, WC_MGF1SHA256, 0 },
		{ 0, WC_MGF1SHA256, -EKEYREJECTED },
		{ 1, WC_MGF1SHA256, -EKEYREJECTED },
		{ 20, WC_MGF1SHA256, -EKEYREJECTED },
		{ 31, WC_MGF1SHA256, -EKEYREJECTED },
		{ 32, WC_MGF1SHA1, -EKEYREJECTED },
		{ 32, WC_MGF1SHA384, -EKEYREJECTED },
		{ 32, WC_MGF1SHA512, -EKEYREJECTED },
	};
	struct signer signer;

	signer_init(&signer);
	for (size_t i = 0; i < COUNT(rows); i++) {
		cr_assert(eq(int,
			     wc_RsaPSS_Sign_ex(signer.hash, sizeof(signer.hash), signer.signature,
					       sizeof(signer.signature), WC_HASH_TYPE_SHA256,
					       rows[i].mgf, rows[i].salt_len, &signer.rsa,
					       &signer.rng),
			     256));
		cr_expect(eq(int, verify(&signer, EDDY_JWS_PS256), rows[i].r), "%zu", i);
		cr_expect(eq(int, verify(&signer, EDDY_JWS_RS256), -EKEYREJECTED), "%zu", i);
	}
	signer_deinit(&signer);
}
