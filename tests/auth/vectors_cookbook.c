/* The examples that the RFCs have of keys and signatures; those of RFC 7517, RFC 7520 and RFC 8037 are read from
 * EDDY_VECTORS. */
#include "jwt/jwk.h"

#include "../http/vectors.h"
#include "keys.h"
#include "rfc.h"

#include <errno.h>

static enum eddy_jws_alg alg_of(const char *name)
{
	enum eddy_jws_alg alg = EDDY_JWS_ALGS;

	cr_assert(zero(int, eddyi_jws_alg_find(eddy_str_from(name), &alg)), "%s", name);
	return alg;
}

Test(vectors_cookbook, rfc_7515_and_8037)
{
	for (size_t i = 0; i < RFC_SIGNATURES; i++) {
		struct eddy_jwk *key = keys_parse(rfc_signatures[i].key);
		enum eddy_jws_alg alg = alg_of(rfc_signatures[i].alg);
		struct eddy_str text = eddy_str_from(rfc_signatures[i].text);
		struct eddy_str signature = keys_decode(rfc_signatures[i].signature);
		char *bytes = (char *)signature.ptr;

		cr_expect(zero(int, eddy_jwk_verify(key, alg, text, signature)), "%s",
			  rfc_signatures[i].alg);
		text.len--;
		cr_expect(eq(int, eddy_jwk_verify(key, alg, text, signature), -EKEYREJECTED), "%s",
			  rfc_signatures[i].alg);
		text.len++;
		for (size_t at = 0; at < signature.len; at += signature.len - 1) {
			bytes[at] ^= 1;
			cr_expect(eq(int, eddy_jwk_verify(key, alg, text, signature),
				     -EKEYREJECTED),
				  "%s", rfc_signatures[i].alg);
			bytes[at] ^= 1;
		}
		free(bytes);
		eddy_jwk_unref(key);
	}
}

/* The same text always gives the same signature, which the RFCs have. */
Test(vectors_cookbook, rfc_7515_and_8037_signed_again)
{
	static const struct {
		size_t at;
		const char *key;
	} rows[] = {
		{ 0, "{" RFC_SECRET "}" },
		{ 1, "{" RFC_RSA_PRIVATE "}" },
		{ 4, "{" RFC_ED25519_PRIVATE "}" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_jwk *key = keys_parse(rows[i].key);
		struct eddy_str expected = keys_decode(rfc_signatures[rows[i].at].signature);
		unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
		ssize_t len = eddy_jwk_sign(key, alg_of(rfc_signatures[rows[i].at].alg),
					    eddy_str_from(rfc_signatures[rows[i].at].text),
					    signature);

		cr_assert(eq(int, (int)len, (int)expected.len));
		cr_expect(zero(memcmp(signature, expected.ptr, expected.len)), "%zu", i);
		free((char *)expected.ptr);
		eddy_jwk_unref(key);
	}
}

Test(vectors_cookbook, rfc_7638_and_8037_thumbprints)
{
	/* The key of RFC 7638 has members that do not count, and theirs do not stand in order. */
	static const struct {
		const char *key, *thumbprint;
	} rows[] = {
		{ "{'kty':'RSA','n':"
		  "'0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSo"
		  "c_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGj"
		  "QR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-b"
		  "FTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
		  "','e':'AQAB','alg':'RS256','kid':'2011-04-29'}",
		  "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs" },
		{ "{" RFC_ED25519_PRIVATE "}", "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_jwk *key = keys_parse(rows[i].key);
		char thumbprint[EDDY_JWK_THUMBPRINT_SIZE];

		eddy_jwk_thumbprint(key, thumbprint);
		cr_expect(eq(str, thumbprint, (char *)rows[i].thumbprint));
		eddy_jwk_unref(key);
	}
}

/* RFC 7520 section 3, which has the keys of RFC 7517 with other numbers. */
Test(vectors_cookbook, keys)
{
	static const struct {
		const char *file;
		int r;
		unsigned algs;
		bool is_private;
	} rows[] = {
		{ "3_1.ec_public_key", 0, EDDY_JWS_BIT(EDDY_JWS_ES512), false },
		{ "3_2.ec_private_key", 0, EDDY_JWS_BIT(EDDY_JWS_ES512), true },
		{ "3_3.rsa_public_key", 0, EDDY_JWS_PUBLIC & 0x1f8, false },
		{ "3_4.rsa_private_key", 0, EDDY_JWS_PUBLIC & 0x1f8, true },
		{ "3_5.symmetric_key_mac_computation", 0, EDDY_JWS_BIT(EDDY_JWS_HS256), true },
		/* For encryption. */
		{ "3_6.symmetric_key_encryption", -ENOTSUP, 0, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char name[100];
		struct eddy_jwk *key = NULL;
		json_t *json;

		snprintf(name, sizeof(name), "jwt/cookbook/jwk/%s.json", rows[i].file);
		json = vectors_load(name);
		cr_expect(eq(int, eddyi_jwk_read(json, false, &key), rows[i].r), "%s", name);
		if (key) {
			struct eddy_str kid = eddy_jwk_kid(key);

			cr_expect(eq(uint, eddy_jwk_algs(key), rows[i].algs), "%s", name);
			cr_expect(eq(int, eddy_jwk_is_private(key), rows[i].is_private), "%s",
				  name);
			cr_expect(eddy_str_eq_z(kid,
						json_string_value(json_object_get(json, "kid"))));
		}
		eddy_jwk_unref(key);
		json_decref(json);
	}
}

static const char *str(const json_t *json, const char *name)
{
	return json_string_value(json_object_get(json, name));
}

/* Each signature of a file by its key, over its very text. */
static void try_file(const char *name, unsigned *count)
{
	json_t *root = vectors_load(name);
	const json_t *input = json_object_get(root, "input");
	const json_t *keys = json_object_get(input, "key"),
		     *signing = json_object_get(root, "signing");
	size_t i, several = json_is_array(signing) ? json_array_size(signing) : 1;

	for (i = 0; i < several; i++) {
		const json_t *one = json_is_array(signing) ? json_array_get(signing, i) : signing;
		json_t *json = json_is_array(keys) ? json_array_get(keys, i) : (json_t *)keys;
		const json_t *algs = json_object_get(input, "alg");
		const char *alg =
			json_string_value(json_is_array(algs) ? json_array_get(algs, i) : algs);
		struct eddy_str signature = keys_decode(str(one, "sig"));
		struct eddy_jwk *key = NULL;

		cr_assert(zero(int, eddyi_jwk_read(json, false, &key)), "%s", name);
		cr_expect(zero(int,
			       eddy_jwk_verify(key, alg_of(alg),
					       eddy_str_from(str(one, "sig-input")), signature)),
			  "%s %s", name, alg);
		free((char *)signature.ptr);
		eddy_jwk_unref(key);
		++*count;
	}
	json_decref(root);
}

Test(vectors_cookbook, signatures)
{
	static const char *const files[] = {
		"jws/4_1.rsa_v15_signature",
		"jws/4_2.rsa-pss_signature",
		"jws/4_3.ecdsa_signature",
		"jws/4_4.hmac-sha2_integrity_protection",
		"jws/4_5.signature_with_detached_content",
		"jws/4_6.protecting_specific_header_fields",
		"jws/4_7.protecting_content_only",
		"jws/4_8.multiple_signatures",
		"curve25519/jws",
	};
	unsigned count = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char name[100];

		snprintf(name, sizeof(name), "jwt/cookbook/%s.json", files[i]);
		try_file(name, &count);
	}
	cr_expect(eq(uint, count, 11));
}
