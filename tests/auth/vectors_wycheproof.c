/* Wycheproof's signatures and keys, read from EDDY_VECTORS: what it calls valid is taken, and nothing else. Where it is
 * otherwise here, the test is named with the reason. */
#include "jwt/jwk.h"

#include "../http/vectors.h"
#include "keys.h"

#include <errno.h>

#define DIR "jwt/wycheproof/"

static const char *str(const json_t *json, const char *name)
{
	return json_string_value(json_object_get(json, name));
}

static int id_of(const json_t *test)
{
	return (int)json_integer_value(json_object_get(test, "tcId"));
}

/* Freed by the caller. */
static struct eddy_str unhex(const char *hex)
{
	size_t len = strlen(hex) / 2;
	char *bytes = malloc(len + 1);

	for (size_t i = 0; i < len; i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], 0 };

		bytes[i] = (char)strtoul(digits, NULL, 16);
	}
	return eddy_str(bytes, len);
}

/* A test whose "acceptable" means: not what the standard says, but harmless. It is refused here. */
static void expect(const char *file, const json_t *test, int r)
{
	bool is_valid = !strcmp(str(test, "result"), "valid");

	cr_expect(eq(int, r, is_valid ? 0 : -EKEYREJECTED), "%s %d %s", file, id_of(test),
		  str(test, "comment"));
}

static struct eddy_jwk *key_of(const json_t *group)
{
	const json_t *json = json_object_get(group, "publicKeyJwk");
	struct eddy_jwk *key = NULL;

	if (!json)
		json = json_object_get(group, "keyJwk");
	if (json)
		cr_assert(zero(int, eddyi_jwk_read(json, false, &key)));
	return key;
}

static void expect_same(const struct eddy_jwk *key, const struct eddy_jwk *again)
{
	char thumbprints[2][EDDY_JWK_THUMBPRINT_SIZE];

	eddy_jwk_thumbprint(key, thumbprints[0]);
	eddy_jwk_thumbprint(again, thumbprints[1]);
	cr_expect(eq(str, thumbprints[0], thumbprints[1]));
}

static unsigned try_signatures(const char *file, enum eddy_jws_alg alg)
{
	json_t *root = vectors_load(file), *group, *test;
	unsigned count = 0;
	size_t i, j;

	json_array_foreach(json_object_get(root, "testGroups"), i, group)
	{
		struct eddy_jwk *key = keys_pem(str(group, "publicKeyPem"), 0),
				*again = key_of(group);

		/* Most have it in both forms. */
		if (again)
			expect_same(key, again);
		json_array_foreach(json_object_get(group, "tests"), j, test)
		{
			struct eddy_str text = unhex(str(test, "msg"));
			struct eddy_str signature = unhex(str(test, "sig"));

			expect(file, test, eddy_jwk_verify(key, alg, text, signature));
			free((char *)text.ptr);
			free((char *)signature.ptr);
			count++;
		}
		eddy_jwk_unref(key);
		eddy_jwk_unref(again);
	}
	json_decref(root);
	return count;
}

Test(vectors_wycheproof, es256)
{
	cr_expect(eq(uint,
		     try_signatures(DIR "ecdsa_secp256r1_sha256_p1363_test.json", EDDY_JWS_ES256),
		     262));
}

Test(vectors_wycheproof, es384)
{
	cr_expect(eq(uint,
		     try_signatures(DIR "ecdsa_secp384r1_sha384_p1363_test.json", EDDY_JWS_ES384),
		     280));
}

Test(vectors_wycheproof, es512)
{
	cr_expect(eq(uint,
		     try_signatures(DIR "ecdsa_secp521r1_sha512_p1363_test.json", EDDY_JWS_ES512),
		     318));
}

Test(vectors_wycheproof, rs256)
{
	cr_expect(eq(uint,
		     try_signatures(DIR "rsa_signature_2048_sha256_test.json", EDDY_JWS_RS256),
		     259));
}

Test(vectors_wycheproof, ps256)
{
	cr_expect(eq(uint,
		     try_signatures(DIR "rsa_pss_2048_sha256_mgf1_32_test.json", EDDY_JWS_PS256),
		     108));
}

Test(vectors_wycheproof, eddsa)
{
	cr_expect(eq(uint, try_signatures(DIR "ed25519_test.json", EDDY_JWS_EDDSA), 151));
}

/* A key that is shorter than the digest is refused, and so is a tag that is cut short; RFC 7518 has neither. */
Test(vectors_wycheproof, hs256)
{
	static const char file[] = DIR "hmac_sha256_test.json";
	json_t *root = vectors_load(file), *group, *test;
	unsigned count = 0, short_keys = 0, short_tags = 0;
	size_t i, j;

	json_array_foreach(json_object_get(root, "testGroups"), i, group)
		json_array_foreach(json_object_get(group, "tests"), j, test)
	{
		struct eddy_str secret = unhex(str(test, "key"));
		struct eddy_str text = unhex(str(test, "msg")), tag = unhex(str(test, "tag"));
		struct eddy_jwk *key = NULL;
		int r = eddy_jwk_from_secret(secret, NULL, &key);

		count++;
		cr_expect(eq(int, r, secret.len < 32 ? -EKEYREJECTED : 0), "%d", id_of(test));
		if (r < 0) {
			short_keys++;
		} else {
			r = eddy_jwk_verify(key, EDDY_JWS_HS256, text, tag);
			short_tags += tag.len < 32;
			if (tag.len < 32)
				cr_expect(eq(int, r, -EKEYREJECTED), "%d", id_of(test));
			else
				expect(file, test, r);
		}
		eddy_jwk_unref(key);
		free((char *)secret.ptr);
		free((char *)text.ptr);
		free((char *)tag.ptr);
	}
	json_decref(root);
	cr_expect(eq(uint, count, 174));
	cr_expect(lt(uint, short_keys + short_tags, 120));
}

/* A token in its three parts, as much as this needs of it. */
struct token {
	char *text;
	enum eddy_jws_alg alg;
	json_t *header;
	struct eddy_str kid, input, signature;
};

static bool is_base64url(struct eddy_str text)
{
	unsigned char *bytes = malloc(text.len + 1);
	ssize_t len = eddyi_base64url_decode(text, bytes);

	free(bytes);
	return len >= 0;
}

static bool read_token(const char *text, struct token *token)
{
	struct eddy_str rest = eddy_str_from(text), part;
	char header[1000];
	ssize_t len;

	memset(token, 0, sizeof(*token));
	/* Encrypted ones may be objects. */
	if (!eddy_str_split(&rest, '.', &part))
		return false;
	len = part.len < sizeof(header) ? eddyi_base64url_decode(part, (unsigned char *)header) :
					  -1;
	if (len < 0)
		return false;
	token->header = json_loadb(header, (size_t)len, JSON_REJECT_DUPLICATES, NULL);
	if (!token->header || !str(token->header, "alg") ||
	    eddyi_jws_alg_find(eddy_str_from(str(token->header, "alg")), &token->alg) < 0 ||
	    !eddy_str_split(&rest, '.', &part) || !rest.ptr || memchr(rest.ptr, '.', rest.len) ||
	    !is_base64url(part))
		return false;
	token->kid = eddy_str_from(str(token->header, "kid"));
	token->input = eddy_str(text, (size_t)(rest.ptr - text) - 1);
	token->text = malloc(rest.len + 1);
	len = eddyi_base64url_decode(rest, (unsigned char *)token->text);
	token->signature = eddy_str(token->text, (size_t)len);
	return len >= 0;
}

static void free_token(struct token *token)
{
	json_decref(token->header);
	free(token->text);
}

static bool fits(struct eddy_jwk *key, const char *text)
{
	struct token token;
	bool is_read = read_token(text, &token);
	int r = -1;

	if (is_read && key)
		r = eddy_jwk_verify(key, token.alg, token.input, token.signature);
	free_token(&token);
	return r == 0;
}

static bool fits_set(const struct eddy_keyset *set, const char *text)
{
	struct token token;
	bool is_read = read_token(text, &token);
	struct eddy_jwk *key = is_read && set ? eddyi_keyset_find(set, token.kid, token.alg) : NULL;

	free_token(&token);
	return fits(key, text);
}

/* The keys that verify: an object, or a text where they are private. */
static json_t *keys_of(const json_t *group)
{
	json_t *json = json_object_get(group, "public");

	if (!json)
		json = json_object_get(group, "private");
	return json_is_string(json) ? json_loads(json_string_value(json), 0, NULL) :
				      json_incref(json);
}

/* A secret in a key set is skipped, since whoever can read the set could sign as well: no token of these verifies. */
static const int of_secrets[] = { 2, 13, 14, 15 };

static bool is_of_secret(int id)
{
	for (size_t i = 0; i < sizeof(of_secrets) / sizeof(of_secrets[0]); i++)
		if (of_secrets[i] == id)
			return true;
	return false;
}

Test(vectors_wycheproof, key_sets)
{
	json_t *root = vectors_load(DIR "json_web_key_test.json"), *group, *test;
	unsigned count = 0, secrets = 0;
	size_t i, j;

	json_array_foreach(json_object_get(root, "testGroups"), i, group)
	{
		json_t *json = keys_of(group);
		char *text = json_dumps(json, JSON_COMPACT);
		struct eddy_keyset *set = NULL;

		eddy_keyset_parse(eddy_str_from(text), &set);
		json_array_foreach(json_object_get(group, "tests"), j, test)
		{
			bool is_valid = !strcmp(str(test, "result"), "valid");

			if (is_of_secret(id_of(test))) {
				is_valid = false;
				secrets++;
			}
			cr_expect(eq(int, fits_set(set, str(test, "jws")), is_valid), "%d %s",
				  id_of(test), str(test, "comment"));
			count++;
		}
		eddy_keyset_unref(set);
		free(text);
		json_decref(json);
	}
	json_decref(root);
	cr_expect(eq(uint, count, 26));
	cr_expect(eq(uint, secrets, 4));
}

/* The same keys, each alone. That a set mixes kinds (1) or has two keys of one name (4) is none of a key's business, and
 * both are secrets, of which a set has none. */
Test(vectors_wycheproof, keys)
{
	json_t *root = vectors_load(DIR "json_web_key_test.json"), *group, *test;
	unsigned count = 0, of_sets = 0;
	size_t i, j;

	json_array_foreach(json_object_get(root, "testGroups"), i, group)
	{
		json_t *json = keys_of(group);
		struct eddy_jwk *key = NULL;

		eddyi_jwk_read(json_array_get(json_object_get(json, "keys"), 0), false, &key);
		json_array_foreach(json_object_get(group, "tests"), j, test)
		{
			bool is_valid = !strcmp(str(test, "result"), "valid");

			if (id_of(test) == 1 || id_of(test) == 4) {
				is_valid = true;
				of_sets++;
			}
			cr_expect(eq(int, fits(key, str(test, "jws")), is_valid), "%d %s",
				  id_of(test), str(test, "comment"));
			count++;
		}
		eddy_jwk_unref(key);
		json_decref(json);
	}
	json_decref(root);
	cr_expect(eq(uint, count, 26));
	cr_expect(eq(uint, of_sets, 2));
}

/* Of the tokens, what keys and signatures decide; that a header is a token's is looked at where tokens are read. */
static const struct {
	int id;
	bool is_valid;
	const char *why;
} otherwise[] = {
	{ 346, false, "the key is for PS256, the token says PS384" },
	{ 347, false, "there is no algorithm ES521, which the key is for" },
	{ 350, false, "as 346" },
	{ 351, false, "as 347" },
	{ 372, false, "a '?' is not of base64url" },
	{ 373, false, "as 372" },
	{ 367, true,
	  "byte for byte the token of 357, which is valid; the padding that it is about got lost" },
	{ 370, true, "as 367" },
};

Test(vectors_wycheproof, tokens)
{
	json_t *root = vectors_load(DIR "json_web_signature_test.json"), *group, *test;
	unsigned count = 0, others = 0;
	size_t i, j;

	json_array_foreach(json_object_get(root, "testGroups"), i, group)
	{
		json_t *json = keys_of(group);
		struct eddy_jwk *key = NULL;

		eddyi_jwk_read(json, false, &key);
		json_array_foreach(json_object_get(group, "tests"), j, test)
		{
			bool is_valid = !strcmp(str(test, "result"), "valid");
			const char *why = "";

			for (size_t k = 0; k < sizeof(otherwise) / sizeof(otherwise[0]); k++)
				if (otherwise[k].id == id_of(test)) {
					is_valid = otherwise[k].is_valid;
					why = otherwise[k].why;
					others++;
				}
			cr_expect(eq(int, fits(key, str(test, "jws")), is_valid), "%d %s %s",
				  id_of(test), str(test, "comment"), why);
			count++;
		}
		eddy_jwk_unref(key);
		json_decref(json);
	}
	json_decref(root);
	cr_expect(eq(uint, count, 401));
	cr_expect(eq(uint, others, sizeof(otherwise) / sizeof(otherwise[0])));
}

/* Of signatures and of encryption; what is encrypted is no signature, also where it is valid. */
Test(vectors_wycheproof, both_kinds_of_tokens)
{
	json_t *root = vectors_load(DIR "json_web_crypto_test.json"), *group, *test;
	unsigned valid = 0, encrypted = 0;
	size_t i, j;

	json_array_foreach(json_object_get(root, "testGroups"), i, group)
	{
		json_t *json = keys_of(group);
		bool is_set = json_object_get(json, "keys");
		bool is_encrypted = !strncmp(str(group, "comment"), "jwe_", 4);
		char *text = json_dumps(json, JSON_COMPACT);
		struct eddy_keyset *set = NULL;
		struct eddy_jwk *key = NULL;

		if (is_set)
			eddy_keyset_parse(eddy_str_from(text), &set);
		else
			eddy_jwk_parse(eddy_str_from(text), &key);
		json_array_foreach(json_object_get(group, "tests"), j, test)
		{
			const char *jws = str(test, "jws");
			bool is_valid = !strcmp(str(test, "result"), "valid");

			/* As those of_secrets: of a key set that has nothing else. */
			if (is_set || is_encrypted)
				is_valid = false;
			encrypted += is_encrypted;
			valid += is_valid;
			if (!jws)
				jws = str(test, "jwe");
			cr_expect(eq(int, is_set ? fits_set(set, jws) : fits(key, jws), is_valid),
				  "%d %s", id_of(test), str(test, "comment"));
		}
		eddy_keyset_unref(set);
		eddy_jwk_unref(key);
		free(text);
		json_decref(json);
	}
	json_decref(root);
	cr_expect(eq(uint, valid, 3));
	cr_expect(eq(uint, encrypted, 34));
}
