/* Tests of eddy/jwt.h: tokens that are made here. */
#include "keys.h"
#include "pems.h"
#include "rfc.h"
#include "tokens.h"

#include <eddy/loop.h>
#include <errno.h>

#define ALL (EDDY_JWS_SECRET | EDDY_JWS_PUBLIC)
#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static json_t *claims_of(const char *text)
{
	char *json = keys_json(text);
	json_t *claims = json_loads(json, 0, NULL);

	cr_assert_not_null(claims, "%s", text);
	free(json);
	return claims;
}

struct made {
	const struct eddy_jwk *key;
	enum eddy_jws_alg alg;
	const json_t *claims;
	char *text;
	struct eddy_jwt *token;
};

/* What is made is good, for its own algorithm and key. Assertions are the caller's: it may be a task. */
static int make(void *arg)
{
	struct made *made = arg;
	struct eddy_keyset *set = eddy_keyset_of((struct eddy_jwk *)made->key);
	int r = eddy_jwt_sign(made->key, made->alg, NULL, made->claims, &made->text);

	if (r == 0)
		r = eddy_jwt_parse(eddy_str_from(made->text), EDDY_JWS_BIT(made->alg),
				   &made->token);
	if (r == 0)
		r = eddy_jwt_verify(made->token, set, NULL);
	eddy_keyset_unref(set);
	return r;
}

static void try_key(const char *name, struct eddy_jwk *key)
{
	json_t *claims = claims_of("{'exp':9000000000,'sub':'joe'}");

	for (unsigned alg = 0; alg < EDDY_JWS_ALGS; alg++) {
		struct made made = { .key = key, .alg = alg, .claims = claims };
		int r, in_a_task;

		if (!(eddy_jwk_algs(key) & EDDY_JWS_BIT(alg)))
			continue;
		for (in_a_task = 0; in_a_task < 2; in_a_task++) {
			r = in_a_task ? eddy_run(NULL, make, &made) : make(&made);
			cr_assert_eq(r, 0, "%s %s: %d", name, eddy_jws_alg_name(alg), r);
			cr_expect_eq(made.token->alg, alg);
			cr_expect(json_equal(eddy_jwt_claims(made.token), claims));
			eddy_jwt_unref(made.token);
			free(made.text);
		}
	}
	json_decref(claims);
	eddy_jwk_unref(key);
}

Test(jwt_sign, with_a_key_of_every_kind)
{
	try_key("secret", keys_parse("{" RFC_SECRET ",'kid':'s'}"));
	try_key("rsa", keys_parse("{" RFC_RSA_PRIVATE ",'kid':'r'}"));
	try_key("p256", keys_parse("{" RFC_P256_PRIVATE "}"));
	try_key("p384", keys_pem(pem_ec384_pkcs8, 0));
	try_key("p521", keys_parse("{" RFC_P521_PRIVATE "}"));
	try_key("ed25519", keys_parse("{" RFC_ED25519_PRIVATE "}"));
	try_key("ed448", keys_pem(pem_ed448_pkcs8, 0));
}

/* Character by character; the signatures were made by another program. */
Test(jwt_sign, says_what_it_was_asked_to)
{
	static const struct {
		const char *key, *type, *claims, *text;
	} rows[] = {
		{ "{" RFC_SECRET "}", NULL, "{}",
		  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
		  "e30."
		  "6cvao8lnOu6FAdK68jQFcDMXOmaWNwWiYhCgijd-AD8" },
		{ "{" RFC_SECRET ",'kid':'k1'}", "at+jwt",
		  "{'sub':'joe','exp':5,'list':[1,true,null]}",
		  "eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0."
		  "eyJzdWIiOiJqb2UiLCJleHAiOjUsImxpc3QiOlsxLHRydWUsbnVsbF19."
		  "2F4l6oYAjlmwYlypOwN1ldgguNbxnSDqCMT_oLQCeZc" },
		{ "{" RFC_SECRET ",'kid':''}", "", "{'b':1,'a':2}",
		  "eyJhbGciOiJIUzI1NiIsInR5cCI6IiIsImtpZCI6IiJ9."
		  "eyJiIjoxLCJhIjoyfQ."
		  "oHISGdPtx1sa_J_6tR9wm_EGkD2ODxNZMAot3NOcVsU" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct eddy_jwk *key = keys_parse(rows[i].key);
		json_t *claims = claims_of(rows[i].claims);
		char *text = NULL;

		cr_assert_eq(eddy_jwt_sign(key, EDDY_JWS_HS256, rows[i].type, claims, &text), 0);
		cr_expect_str_eq(text, rows[i].text);
		free(text);
		json_decref(claims);
		eddy_jwk_unref(key);
	}
}

static int sign(struct eddy_jwk *key, enum eddy_jws_alg alg, const char *type, const json_t *claims)
{
	char *const nothing = (char *)0x1, *text = nothing;
	int r = eddy_jwt_sign(key, alg, type, claims, &text);

	if (r == 0)
		free(text);
	else
		cr_expect(text == nothing);
	return r;
}

/* Objects in one another. */
static json_t *claims_of_levels(unsigned levels)
{
	json_t *claims = json_object();

	for (unsigned i = 1; i < levels; i++)
		claims = i % 2 ? json_pack("{s:o}", "a", claims) :
				 json_pack("{s:[o]}", "a", claims);
	return claims;
}

Test(jwt_sign, refuses_what_is_no_token)
{
	struct eddy_jwk *secret = keys_parse("{" RFC_SECRET "}");
	struct eddy_jwk *pinned = keys_parse("{" RFC_SECRET ",'alg':'HS256'}");
	struct eddy_jwk *public = keys_parse("{" RFC_P256_PUBLIC "}");
	struct eddy_jwk_options options = { .kid = "\xff" };
	struct eddy_jwk *odd = NULL;
	json_t *claims = json_object(), *array = json_array(), *inner = json_object();

	cr_expect_eq(sign(secret, EDDY_JWS_HS256, NULL, claims), 0);
	cr_expect_eq(sign(secret, EDDY_JWS_RS256, NULL, claims), -EINVAL);
	cr_expect_eq(sign(secret, EDDY_JWS_ALGS, NULL, claims), -EINVAL);
	cr_expect_eq(sign(secret, (enum eddy_jws_alg)32, NULL, claims), -EINVAL);
	cr_expect_eq(sign(pinned, EDDY_JWS_HS512, NULL, claims), -EINVAL);
	cr_expect_eq(sign(public, EDDY_JWS_ES256, NULL, claims), -EINVAL);
	cr_expect_eq(sign(secret, EDDY_JWS_HS256, NULL, array), -EINVAL);
	cr_expect_eq(sign(secret, EDDY_JWS_HS256, NULL, NULL), -EINVAL);
	cr_expect_eq(sign(secret, EDDY_JWS_HS256, "\xff", claims), -EINVAL);
	cr_assert_eq(eddy_jwk_from_secret(eddy_str_from("0123456789abcdef0123456789abcdef"),
					  &options, &odd),
		     0);
	cr_expect_eq(sign(odd, EDDY_JWS_HS256, NULL, claims), -EINVAL);

	/* Two objects that hold one another. */
	json_object_set(claims, "a", array);
	json_array_append(array, inner);
	json_object_set(inner, "b", array);
	cr_expect_eq(sign(secret, EDDY_JWS_HS256, NULL, claims), -EINVAL);
	json_object_clear(inner);
	json_decref(claims);
	json_decref(array);
	json_decref(inner);
	eddy_jwk_unref(secret);
	eddy_jwk_unref(pinned);
	eddy_jwk_unref(public);
	eddy_jwk_unref(odd);
}

/* What is signed here is read here: neither deeper nor longer. */
Test(jwt_sign, makes_what_can_be_read)
{
	struct eddy_jwk *key = keys_parse("{" RFC_SECRET "}");
	size_t longest = 0;

	for (unsigned levels = 1; levels < 40; levels++) {
		json_t *claims = claims_of_levels(levels);
		char *text = NULL;
		struct eddy_jwt *token;
		int r = eddy_jwt_sign(key, EDDY_JWS_HS256, NULL, claims, &text);

		cr_expect(r == 0 || r == -EINVAL, "%u", levels);
		if (r == 0) {
			cr_expect_eq(eddy_jwt_parse(eddy_str_from(text), ALL, &token), 0, "%u",
				     levels);
			eddy_jwt_unref(token);
			free(text);
		}
		/* Each second one has an array beside the object. */
		cr_expect_eq(r == 0, levels <= 11, "%u", levels);
		json_decref(claims);
	}
	for (int len = 5900; len < 7000; len++) {
		json_t *claims = json_pack("{s:o}", "a", json_sprintf("%0*d", len, 0));
		char *text = NULL;
		struct eddy_jwt *token;
		int r = eddy_jwt_sign(key, EDDY_JWS_HS256, NULL, claims, &text);

		if (r == 0) {
			cr_expect_eq(eddy_jwt_parse(eddy_str_from(text), ALL, &token), 0, "%d",
				     len);
			eddy_jwt_unref(token);
			longest = strlen(text);
			free(text);
		} else if (r != -EMSGSIZE) {
			cr_fail("%d: %d", len, r);
		}
		json_decref(claims);
	}
	cr_expect_geq(longest, EDDY_JWT_MAX - 2);
	cr_expect_leq(longest, EDDY_JWT_MAX);
	json_t *claims = json_pack("{s:o}", "a", json_sprintf("%0*d", 100000, 0));

	cr_expect_eq(sign(key, EDDY_JWS_HS256, NULL, claims), -EMSGSIZE);
	json_decref(claims);
	eddy_jwk_unref(key);
}
