/* Fuzzes eddy/jwt.h and eddy/rule.h. What begins with a '{' is a header, a line feed and claims, which are signed with the
 * one key there is; anything else is a token as it comes. Nothing that is accepted is other than it says, and what was
 * read, signed again, is read as the same. */
#include "jwt/base64url.h"
#include "jwt/jwt.h"

#include <eddy/rule.h>
#include <stdlib.h>

#define ALL (EDDY_JWS_SECRET | EDDY_JWS_PUBLIC)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct eddy_jwk *key;
static struct eddy_keyset *set;

static void need_key(void)
{
	struct eddy_str secret =
		eddy_str_from("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");

	struct eddy_jwk_options options = { .algs = EDDY_JWS_BIT(EDDY_JWS_HS256) };

	if (key)
		return;
	if (eddy_jwk_from_secret(secret, &options, &key) < 0)
		abort();
	set = eddy_keyset_of(key);
}

/* Return: it and its signature; to be freed. */
static struct eddy_str sign(struct eddy_str header, struct eddy_str claims)
{
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
	char *text = malloc(EDDYI_BASE64URL_ENCODED(header.len) +
			    EDDYI_BASE64URL_ENCODED(claims.len) + 70);
	size_t len = eddyi_base64url_encode(header.ptr, header.len, text);

	text[len++] = '.';
	len += eddyi_base64url_encode(claims.ptr, claims.len, text + len);
	if (eddy_jwk_sign(key, EDDY_JWS_HS256, eddy_str(text, len), signature) != 32)
		abort();
	text[len++] = '.';
	len += eddyi_base64url_encode(signature, 32, text + len);
	return eddy_str(text, len);
}

static void look_at_rules(const struct eddy_jwt *token)
{
	const struct eddy_rule *rule = eddy_all_of(
		eddy_any_of(eddy_roles("admin", "a"), eddy_scopes("read"), eddy_permissions("p")),
		eddy_scopes("write", "read"), eddy_claim("aud", "x"));
	char scopes[EDDY_RULE_SCOPES_SIZE];

	if ((eddy_rule_check(rule, token, NULL) == 0) !=
	    (eddy_rule_check(rule, token, scopes) == 0))
		abort();
}

static void look_at_claims(const struct eddy_jwt *token)
{
	static const char *const audiences[] = { "x", "y", NULL };
	struct eddy_jwt_options options = { .issuer = "joe",
					    .audiences = audiences,
					    .now_ns = 1000 * EDDY_SECOND };
	int r = eddyi_jwt_check_claims(token, &options);

	if (r < 0 || r == EDDY_JWT_SIGNATURE || r == EDDY_JWT_KEY)
		abort();
	if (r == 0 && (!eddy_str_eq_z(eddy_jwt_str(token, "iss"), "joe") ||
		       eddyi_jwt_expires(token) <= 940 * EDDY_SECOND ||
		       (!eddy_jwt_has(token, "aud", eddy_str_from("x")) &&
			!eddy_jwt_has(token, "aud", eddy_str_from("y")))))
		abort();
	options = (struct eddy_jwt_options){ 0 };
	r = eddyi_jwt_check_claims(token, &options);
	if (r < 0)
		abort();
}

static void sign_again(const struct eddy_jwt *token)
{
	struct eddy_jwt *again;
	char *text;

	/* It may be longer than it was: 1e9 is written as 1000000000.0. */
	if (eddy_jwt_sign(key, EDDY_JWS_HS256, NULL, eddy_jwt_claims(token), &text) != 0)
		return;
	if (eddy_jwt_parse(eddy_str_from(text), ALL, &again) != 0)
		abort();
	if (!json_equal(eddy_jwt_claims(token), eddy_jwt_claims(again)) ||
	    eddy_jwt_verify(again, set, NULL) == EDDY_JWT_SIGNATURE)
		abort();
	eddy_jwt_unref(again);
	free(text);
}

/* Return: what verifying it says. */
static int look_at(struct eddy_str text)
{
	struct eddy_jwt *token;
	int r = eddy_jwt_parse(text, ALL, &token);

	if (r != 0)
		return r;
	if (text.len > EDDY_JWT_MAX || (unsigned)token->alg >= EDDY_JWS_ALGS)
		abort();
	look_at_claims(token);
	look_at_rules(token);
	sign_again(token);
	r = eddy_jwt_verify(token, set, NULL);
	eddy_jwt_unref(token);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str text = eddy_str((const char *)data, size), header, made;
	int r;

	need_key();
	if (!size || text.ptr[0] != '{') {
		/* Nobody finds a signature. */
		r = look_at(text);
		if (r < 1)
			abort();
		return 0;
	}
	eddy_str_split(&text, '\n', &header);
	made = sign(header, text);
	r = look_at(made);
	/* Long texts are malformed, and other algorithms have no key. */
	if (r < 0 || r == EDDY_JWT_SIGNATURE)
		abort();
	free((char *)made.ptr);
	return 0;
}
