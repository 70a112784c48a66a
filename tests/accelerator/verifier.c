/* Tests of eddy/verifier.h: what libcrypto has signed, in ways that fit and in others. */
#include <criterion/criterion.h>
#include <errno.h>
#include <eddy/internal/verifier.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <string.h>

#define TEXT eddy_str_from("a text")
#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

struct number {
	unsigned char bytes[512];
	struct eddy_str str;
};

static void get(const EVP_PKEY *key, const char *name, int width, struct number *ret_number)
{
	BIGNUM *number = NULL;
	int len;

	cr_assert_eq(EVP_PKEY_get_bn_param(key, name, &number), 1);
	len = width ? width : BN_num_bytes(number);
	cr_assert_eq(BN_bn2binpad(number, ret_number->bytes, len), len);
	ret_number->str = eddy_str((char *)ret_number->bytes, (size_t)len);
	BN_free(number);
}

static struct eddyi_verifier *rsa_verifier(const EVP_PKEY *key)
{
	struct number n, e;

	get(key, OSSL_PKEY_PARAM_RSA_N, 0, &n);
	get(key, OSSL_PKEY_PARAM_RSA_E, 0, &e);
	return eddyi_verifier_of_rsa(n.str, e.str);
}

static struct eddyi_verifier *ec_verifier(const EVP_PKEY *key)
{
	struct number x, y;

	get(key, OSSL_PKEY_PARAM_EC_PUB_X, 32, &x);
	get(key, OSSL_PKEY_PARAM_EC_PUB_Y, 32, &y);
	return eddyi_verifier_of_p256(x.str, y.str);
}

struct how {
	const EVP_MD *hash, *mgf;
	int padding, salt;
};

/* Return: the signature, in `bytes`. */
static struct eddy_str sign(EVP_PKEY *key, const struct how *how, unsigned char bytes[512])
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	EVP_PKEY_CTX *options;
	size_t len = 512;

	cr_assert_eq(EVP_DigestSignInit(context, &options, how->hash, NULL, key), 1);
	if (how->padding)
		cr_assert_eq(EVP_PKEY_CTX_set_rsa_padding(options, how->padding), 1);
	if (how->padding == RSA_PKCS1_PSS_PADDING) {
		cr_assert_eq(EVP_PKEY_CTX_set_rsa_pss_saltlen(options, how->salt), 1);
		cr_assert_eq(EVP_PKEY_CTX_set_rsa_mgf1_md(options, how->mgf), 1);
	}
	cr_assert_eq(
		EVP_DigestSign(context, bytes, &len, (const unsigned char *)TEXT.ptr, TEXT.len), 1);
	EVP_MD_CTX_free(context);
	return eddy_str((char *)bytes, len);
}

Test(verifier, takes_rsa_of_one_padding_and_one_salt)
{
	const struct {
		struct how how;
		unsigned bits;
		bool is_pss;
	} rows[] = {
		{ { EVP_sha256(), NULL, RSA_PKCS1_PADDING, 0 }, 256, false },
		{ { EVP_sha384(), NULL, RSA_PKCS1_PADDING, 0 }, 384, false },
		{ { EVP_sha512(), NULL, RSA_PKCS1_PADDING, 0 }, 512, false },
		{ { EVP_sha256(), EVP_sha256(), RSA_PKCS1_PSS_PADDING, 32 }, 256, true },
		{ { EVP_sha384(), EVP_sha384(), RSA_PKCS1_PSS_PADDING, 48 }, 384, true },
		{ { EVP_sha512(), EVP_sha512(), RSA_PKCS1_PSS_PADDING, 64 }, 512, true },
		/* What no verifier takes. */
		{ { EVP_sha256(), EVP_sha256(), RSA_PKCS1_PSS_PADDING, 0 }, 0, true },
		{ { EVP_sha256(), EVP_sha256(), RSA_PKCS1_PSS_PADDING, 31 }, 0, true },
		{ { EVP_sha256(), EVP_sha256(), RSA_PKCS1_PSS_PADDING, 33 }, 0, true },
		{ { EVP_sha256(), EVP_sha256(), RSA_PKCS1_PSS_PADDING, 64 }, 0, true },
		{ { EVP_sha256(), EVP_sha256(), RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_MAX },
		  0,
		  true },
		{ { EVP_sha256(), EVP_sha1(), RSA_PKCS1_PSS_PADDING, 32 }, 0, true },
		{ { EVP_sha1(), NULL, RSA_PKCS1_PADDING, 0 }, 0, false },
	};
	EVP_PKEY *key = EVP_RSA_gen(2049);
	struct eddyi_verifier *verifier = rsa_verifier(key);

	cr_assert_not_null(verifier);
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned char bytes[512];
		struct eddy_str signature = sign(key, &rows[i].how, bytes);

		for (unsigned bits = 256; bits <= 512; bits += 128)
			for (int is_pss = 0; is_pss < 2; is_pss++) {
				bool fits = bits == rows[i].bits && is_pss == rows[i].is_pss;

				cr_expect_eq(eddyi_verifier_check(verifier, bits, is_pss, TEXT,
								  signature),
					     fits ? 0 : -EKEYREJECTED, "%zu %u %d", i, bits,
					     is_pss);
			}
		signature.len--;
		cr_expect_eq(eddyi_verifier_check(verifier, 256, false, TEXT, signature),
			     -EKEYREJECTED);
		cr_expect_eq(eddyi_verifier_check(verifier, 256, true, TEXT, EDDY_STR("")),
			     -EKEYREJECTED);
	}
	eddyi_verifier_free(verifier);
	EVP_PKEY_free(key);
}

static struct eddy_str halves_of(struct eddy_str der, unsigned char bytes[64])
{
	const unsigned char *at = (const unsigned char *)der.ptr;
	ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &at, (long)der.len);

	cr_assert_not_null(signature);
	BN_bn2binpad(ECDSA_SIG_get0_r(signature), bytes, 32);
	BN_bn2binpad(ECDSA_SIG_get0_s(signature), bytes + 32, 32);
	ECDSA_SIG_free(signature);
	return eddy_str((char *)bytes, 64);
}

/* Many signatures: a half that is short, or has its first bit set, is written otherwise. */
Test(verifier, takes_ecdsa)
{
	const struct how how = { .hash = EVP_sha256() };
	EVP_PKEY *key = EVP_EC_gen("P-256");
	struct eddyi_verifier *verifier = ec_verifier(key);

	cr_assert_not_null(verifier);
	for (int round = 0; round < 2000; round++) {
		unsigned char der[512], bytes[64];
		struct eddy_str signature = halves_of(sign(key, &how, der), bytes);

		cr_assert_eq(eddyi_verifier_check(verifier, 256, false, TEXT, signature), 0);
		bytes[round % 64] ^= 1;
		cr_assert_eq(eddyi_verifier_check(verifier, 256, false, TEXT, signature),
			     -EKEYREJECTED);
		signature.len--;
		cr_assert_eq(eddyi_verifier_check(verifier, 256, false, TEXT, signature),
			     -EKEYREJECTED);
	}
	eddyi_verifier_free(verifier);
	EVP_PKEY_free(key);
}

Test(verifier, takes_no_point_beside_the_curve)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	struct number x, y;

	get(key, OSSL_PKEY_PARAM_EC_PUB_X, 32, &x);
	get(key, OSSL_PKEY_PARAM_EC_PUB_Y, 32, &y);
	y.bytes[31] ^= 1;
	cr_expect_null(eddyi_verifier_of_p256(x.str, y.str));
	y.bytes[31] ^= 1;
	x.str.len = y.str.len = 31;
	cr_expect_null(eddyi_verifier_of_p256(x.str, y.str));
	x.str.len = 32;
	cr_expect_null(eddyi_verifier_of_p256(x.str, y.str));
	EVP_PKEY_free(key);
}

static struct eddy_str mac_of(const EVP_MD *hash, struct eddy_str secret, struct eddy_str text,
			      unsigned char *bytes)
{
	unsigned len;

	HMAC(hash, secret.ptr, (int)secret.len, (const unsigned char *)text.ptr, text.len, bytes,
	     &len);
	return eddy_str((char *)bytes, len);
}

/* A context is used again for another text, and replaced for another hash. */
Test(verifier, takes_the_whole_mac_of_each_text)
{
	static const char bytes[200] = "secret";

	for (size_t len = 1; len <= sizeof(bytes); len += 33) {
		struct eddy_str secret = eddy_str(bytes, len);
		struct eddyi_verifier *verifier = eddyi_verifier_of_secret(secret);

		for (unsigned i = 0; i < 12; i++) {
			const EVP_MD *hash = i % 3 == 0 ? EVP_sha512() : EVP_sha256();
			unsigned bits = i % 3 == 0 ? 512 : 256;
			struct eddy_str text = eddy_str(bytes, 7 * i);
			unsigned char mac[64];
			struct eddy_str whole = mac_of(hash, secret, text, mac);

			cr_expect_eq(eddyi_verifier_check(verifier, bits, false, text, whole), 0);
			for (size_t at = 0; at < whole.len; at++) {
				mac[at] ^= 0x80;
				cr_expect_eq(eddyi_verifier_check(verifier, bits, false, text,
								  whole),
					     -EKEYREJECTED);
				mac[at] ^= 0x80;
			}
			whole.len--;
			cr_expect_eq(eddyi_verifier_check(verifier, bits, false, text, whole),
				     -EKEYREJECTED);
		}
		eddyi_verifier_free(verifier);
	}
	eddyi_verifier_free(NULL);
}

struct shared {
	struct eddyi_verifier *verifier;
	struct eddy_str macs[2];
};

static void *check_often(void *arg)
{
	const struct shared *shared = arg;
	intptr_t wrong = 0;

	for (int i = 0; i < 20000; i++)
		wrong += eddyi_verifier_check(shared->verifier, 256, false, TEXT,
					      shared->macs[i % 2]) != (i % 2 ? -EKEYREJECTED : 0);
	return (void *)wrong;
}

/* More of them than there are slots. */
Test(verifier, serves_many_threads)
{
	unsigned char mac[64];
	struct shared shared = { eddyi_verifier_of_secret(TEXT),
				 { mac_of(EVP_sha256(), TEXT, TEXT, mac), TEXT } };
	pthread_t threads[12];
	void *wrong;

	for (size_t i = 0; i < COUNT(threads); i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, check_often, &shared), 0);
	for (size_t i = 0; i < COUNT(threads); i++) {
		pthread_join(threads[i], &wrong);
		cr_expect_null(wrong);
	}
	eddyi_verifier_free(shared.verifier);
}
