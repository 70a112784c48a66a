/* Tokens that others keep, read from EDDY_VECTORS: Wycheproof's web signatures, the shapes that Tink tries, and the signed
 * examples of RFC 7520. Where it is otherwise here, the test is named with the reason. */
#include "jwt/jwk.h"

#include "../http/vectors.h"
#include "keys.h"
#include "tokens.h"

#include <errno.h>

#define ALL (EDDY_JWS_SECRET | EDDY_JWS_PUBLIC)
#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static const char *str(const json_t *json, const char *name)
{
	return json_string_value(json_object_get(json, name));
}

/* A claims set of ours in the place of a payload that is no JSON. Return: its text, to be freed. */
static struct eddy_str with_claims(struct eddy_str text)
{
	struct eddy_str header, payload, rest = text;
	char *to = malloc(text.len + 8);
	int len = 0;

	if (!eddy_str_split(&rest, '.', &header) || !eddy_str_split(&rest, '.', &payload) ||
	    !rest.ptr)
		len = sprintf(to, "%.*s", EDDY_FMT(text));
	else
		len = sprintf(to, "%.*s.e30.%.*s", EDDY_FMT(header), EDDY_FMT(rest));
	return eddy_str(to, (size_t)len);
}

/* The payload is what it likes, but strictly coded: header, key and signature are looked at as a token's are.
 * Return: 0, a fault. */
static int verify_parts(struct eddy_str text, const struct eddy_keyset *set)
{
	struct eddy_str header, payload, signature = text, like = with_claims(text), bytes;
	unsigned char scratch[8192];
	struct eddy_jwt *token;
	struct eddy_jwk *key;
	int r = eddy_jwt_parse(like, ALL, &token);

	free((char *)like.ptr);
	if (r != 0)
		return r;
	key = eddyi_keyset_find(set, token->kid, token->alg);
	eddy_str_split(&signature, '.', &header);
	eddy_str_split(&signature, '.', &payload);
	if (eddyi_base64url_decode(payload, scratch) < 0) {
		r = EDDY_JWT_MALFORMED;
	} else if (!key) {
		r = EDDY_JWT_KEY;
	} else {
		bytes = eddy_str((char *)scratch,
				 (size_t)eddyi_base64url_decode(signature, scratch));
		r = eddy_jwk_verify(key, token->alg,
				    eddy_str(text.ptr, header.len + 1 + payload.len), bytes);
		r = r == -EKEYREJECTED ? EDDY_JWT_SIGNATURE : r;
	}
	eddy_jwt_unref(token);
	return r;
}

/* NULL when the key is none that we take. */
static struct eddy_keyset *set_of(const json_t *json)
{
	struct eddy_keyset *set = NULL;
	struct eddy_jwk *key;

	if (eddyi_jwk_read(json, false, &key) < 0)
		return NULL;
	set = eddy_keyset_of(key);
	eddy_jwk_unref(key);
	return set;
}

/* What we do not decide as Wycheproof says. */
static const struct {
	int id;
	bool is_accepted;
	const char *why;
} odd[] = {
	{ 346, false, "the key is for PS256 and the header says PS384" },
	{ 350, false, "the same" },
	{ 347, false, "the key's alg is ES521, and there is no such algorithm" },
	{ 351, false, "the same" },
	{ 367, true, "byte by byte it is test 357, which is valid" },
	{ 370, true, "the same" },
	{ 372, false, "a '?' is no character of base64url" },
	{ 373, false, "the same" },
};

static bool is_valid(int id, const json_t *test)
{
	bool is_valid = !strcmp(str(test, "result"), "valid");

	for (size_t i = 0; i < COUNT(odd); i++) {
		if (odd[i].id != id)
			continue;
		cr_expect_neq(is_valid, odd[i].is_accepted, "%d", id);
		return odd[i].is_accepted;
	}
	return is_valid;
}

Test(vectors_jwt, wycheproof)
{
	json_t *root = vectors_load("jwt/wycheproof/json_web_signature_test.json"), *group, *test;
	size_t i, j, count = 0;

	json_array_foreach(json_object_get(root, "testGroups"), i, group)
	{
		const json_t *public = json_object_get(group, "public");
		struct eddy_keyset *set =
			set_of(public ? public : json_object_get(group, "private"));

		json_array_foreach(json_object_get(group, "tests"), j, test)
		{
			int id = (int)json_integer_value(json_object_get(test, "tcId"));
			int r = set ? verify_parts(eddy_str_from(str(test, "jws")), set) :
				      EDDY_JWT_KEY;

			count++;
			cr_expect_geq(r, 0, "%d", id);
			cr_expect_eq(r == 0, is_valid(id, test), "%d %s %s: %d", id,
				     str(group, "comment"), str(test, "comment"), r);
			/* Whole tokens: none of these payloads is an object. */
			struct eddy_jwt *token = NULL;

			cr_expect_gt(eddy_jwt_parse(eddy_str_from(str(test, "jws")), ALL, &token),
				     0, "%d", id);
			eddy_jwt_unref(token);
		}
		eddy_keyset_unref(set);
	}
	cr_expect_eq(count, 401);
	json_decref(root);
}

/* RFC 7520 sections 4.1 to 4.4. */
Test(vectors_jwt, cookbook)
{
	static const char *const names[] = {
		"4_1.rsa_v15_signature",
		"4_2.rsa-pss_signature",
		"4_3.ecdsa_signature",
		"4_4.hmac-sha2_integrity_protection",
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		char path[128];
		json_t *root;
		struct eddy_keyset *set;
		struct eddy_str text;
		char *changed;

		snprintf(path, sizeof(path), "jwt/cookbook/jws/%s.json", names[i]);
		root = vectors_load(path);
		set = set_of(json_object_get(json_object_get(root, "input"), "key"));
		cr_assert_not_null(set, "%s", names[i]);
		text = eddy_str_from(str(json_object_get(root, "output"), "compact"));
		cr_expect_eq(verify_parts(text, set), 0, "%s", names[i]);
		changed = strdup(text.ptr);
		/* In the payload, or in the signature. */
		changed[text.len / 2] = changed[text.len / 2] == 'A' ? 'B' : 'A';
		cr_expect_eq(verify_parts(eddy_str(changed, text.len), set), EDDY_JWT_SIGNATURE,
			     "%s", names[i]);
		free(changed);
		eddy_keyset_unref(set);
		json_decref(root);
	}
}

/* ---- Tink ---- */

/* Its strings hold bytes. Freed by the caller. */
static struct eddy_str latin1(const char *utf8)
{
	char *to = malloc(strlen(utf8) + 1), *at = to;

	for (; *utf8; utf8++) {
		if (!(*utf8 & 0x80)) {
			*at++ = *utf8;
			continue;
		}
		*at++ = (char)((utf8[0] & 3) << 6 | (utf8[1] & 0x3f));
		utf8++;
	}
	return eddy_str(to, (size_t)(at - to));
}

/* It asks for exp only where we always do: claims without one get one that is far ahead. */
static struct eddy_str with_exp(struct eddy_str claims)
{
	static const char exp[] = "{\"exp\":253402300799,";
	char *to;

	if (claims.ptr[0] != '{' || memmem(claims.ptr, claims.len, "\"exp\"", 5))
		return claims;
	to = malloc(claims.len + sizeof(exp));
	memcpy(to, exp, sizeof(exp) - 1);
	memcpy(to + sizeof(exp) - 1, claims.ptr + 1, claims.len - 1);
	free((char *)claims.ptr);
	return eddy_str(to, claims.len + sizeof(exp) - 2);
}

/* A payload is a text, or says how often something is repeated. Freed by the caller. */
static struct eddy_str payload_of(const json_t *test)
{
	const json_t *payload = json_object_get(test, "payload");
	size_t times = (size_t)json_integer_value(json_object_get(payload, "times"));
	char *to, *at;

	if (json_is_string(payload))
		return with_exp(latin1(json_string_value(payload)));
	at = to = malloc(times * 16 + 16);
	for (size_t i = 0; i < times; i++)
		at = stpcpy(at, str(payload, "open"));
	at = stpcpy(at, str(payload, "inner"));
	for (size_t i = 0; i < times; i++)
		at = stpcpy(at, str(payload, "close"));
	return eddy_str(to, (size_t)(at - to));
}

static struct eddy_str signed_by(const struct eddy_jwk *key, struct eddy_str header,
				 struct eddy_str claims)
{
	struct eddy_str text = token_of_strs(header, claims, EDDY_STR("")), whole;
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
	ssize_t len =
		eddy_jwk_sign(key, EDDY_JWS_HS256, eddy_str(text.ptr, text.len - 1), signature);

	whole = token_of_strs(header, claims, eddy_str((char *)signature, (size_t)len));
	free((char *)text.ptr);
	return whole;
}

/* What stands in `text` between `before` and a quote. Return: whether it is there. */
static bool quoted(const char *text, const char *before, char *ret_value)
{
	const char *at = strstr(text, before);

	if (at)
		sprintf(ret_value, "%.*s", (int)strcspn(at + strlen(before), "'"),
			at + strlen(before));
	return at;
}

static double number(const char *text, const char *before)
{
	const char *at = strstr(text, before);

	return at ? strtod(at + strlen(before), NULL) : 0;
}

/* Of its cases, from 0, those that we decide otherwise. */
static const struct {
	size_t at;
	bool is_accepted;
	const char *why;
} otherwise[] = {
	{ 4, false, "typ is JWT or at+jwt, and not for the application to choose" },
	{ 6, false, "the same" },
	{ 7, false, "the same" },
	{ 18, true, "after the year 9999 is a time" },
	{ 19, true, "the same" },
	{ 28, true, "who is to say when it was issued? nbf says from when on it is good" },
	{ 31, true, "the same" },
	{ 33, true, "where no issuer is configured, anybody may be it" },
	{ 49, false, "a token with aud is refused where none is configured; it can't be ignored" },
};

static bool is_expected(size_t at, const json_t *test)
{
	bool is_accepted = !strcmp(str(test, "expect"), "accept");

	for (size_t i = 0; i < COUNT(otherwise); i++) {
		if (otherwise[i].at != at)
			continue;
		cr_expect_neq(is_accepted, otherwise[i].is_accepted, "%zu", at);
		return otherwise[i].is_accepted;
	}
	return is_accepted;
}

static int check_case(const json_t *test, const struct eddy_jwk *key, const struct eddy_keyset *set)
{
	const char *validator = str(test, "validator");
	struct eddy_str header = latin1(str(test, "header"));
	struct eddy_str claims = payload_of(test);
	struct eddy_str text = signed_by(key, header, claims);
	char issuer[64], audience[64];
	const char *audiences[] = { audience, NULL };
	double leeway = number(validator, "seconds=");
	struct eddy_jwt_options options = {
		.issuer = quoted(validator, "expected_issuer='", issuer) ? issuer : NULL,
		.audiences = quoted(validator, "expected_audience='", audience) ? audiences : NULL,
		.now_ns = (uint64_t)(number(validator, "fromtimestamp(") * 1e9),
		.leeway_ns = leeway ? (uint64_t)(leeway * 1e9) : EDDY_JWT_NO_LEEWAY,
	};
	struct eddy_jwt *token;
	int r = eddy_jwt_parse(text, ALL, &token);

	if (r == 0) {
		r = eddy_jwt_verify(token, set, &options);
		eddy_jwt_unref(token);
	}
	free((char *)header.ptr);
	free((char *)claims.ptr);
	free((char *)text.ptr);
	return r;
}

Test(vectors_jwt, tink)
{
	json_t *root = vectors_load("jwt/tink_jwt_shape_cases.json"), *test;
	struct eddy_str secret = keys_decode(str(root, "hs256_key_b64url"));
	struct eddy_keyset *set;
	struct eddy_jwk *key;
	size_t i;

	cr_assert_eq(eddy_jwk_from_secret(secret, NULL, &key), 0);
	set = eddy_keyset_of(key);
	json_array_foreach(json_object_get(root, "cases"), i, test)
	{
		struct eddy_jwt *token = NULL;
		int r = check_case(test, key, set);

		cr_expect_geq(r, 0);
		cr_expect_neq(r, EDDY_JWT_SIGNATURE, "%zu", i);
		cr_expect_neq(r, EDDY_JWT_KEY, "%zu", i);
		cr_expect_eq(r == 0, is_expected(i, test), "%zu %s: %d", i, str(test, "test"), r);
		/* Its own signature, made by another program, is good where we can read the token at all. */
		if (eddy_jwt_parse(eddy_str_from(str(test, "token")), ALL, &token) == 0)
			cr_expect_neq(eddy_jwt_verify(token, set, NULL), EDDY_JWT_SIGNATURE, "%zu",
				      i);
		eddy_jwt_unref(token);
	}
	cr_expect_eq(i, 60);
	eddy_keyset_unref(set);
	eddy_jwk_unref(key);
	free((char *)secret.ptr);
	json_decref(root);
}
