/* signed.h: a token of each algorithm, for who verifies it. Made without a loop. */
#ifndef EDDY_BENCH_SIGNED_H
#define EDDY_BENCH_SIGNED_H

#include "jwt/jwt.h"
#include "micro.h"
#include "pems.h"

#define SIGNED_ISSUER "https://issuer.example/realms/shop"
#define SIGNED_AUDIENCE "https://api.example/v1"
#define SIGNED_SECRET "0123456789abcdef0123456789abcdef"

struct signed_token {
	enum eddy_jws_alg alg;
	const char *pem; /* NULL: SIGNED_SECRET */
	struct eddy_jwk *key;
	char *text;
	struct eddy_str signed_text, signature; /* the latter decoded */
};

static inline json_t *signed_claims(void)
{
	json_int_t now = (json_int_t)time(NULL);

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:[s, s], s:I, s:I, s:I}", "iss",
			 SIGNED_ISSUER, "aud", SIGNED_AUDIENCE, "sub",
			 "0b2f7d0e-5a2c-4a55-9d2c-3b0c2f0f6f57", "jti",
			 "8c1b9d2e-6f0a-4f7b-a3c4-9f7f4f2f1e60", "client_id", "shop-frontend",
			 "email", "ann.example@shop.example", "scope", "openid read write", "roles",
			 "editor", "reader", "iat", now, "nbf", now, "exp", now + 86400);
}

static inline void signed_choose(const char *name, struct signed_token *token)
{
	static const struct {
		const char *name;
		enum eddy_jws_alg alg;
		const char *pem;
	} rows[] = {
		{ "HS256", EDDY_JWS_HS256, NULL },
		{ "RS256", EDDY_JWS_RS256, pem_rsa_pkcs8 },
		{ "PS256", EDDY_JWS_PS256, pem_rsa_pkcs8 },
		{ "ES256", EDDY_JWS_ES256, pem_ec256_pkcs8 },
		{ "ES384", EDDY_JWS_ES384, pem_ec384_pkcs8 },
		{ "ES512", EDDY_JWS_ES512, pem_ec521_pkcs8 },
		{ "Ed25519", EDDY_JWS_EDDSA, pem_ed25519_pkcs8 },
		{ "Ed448", EDDY_JWS_EDDSA, pem_ed448_pkcs8 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(name, rows[i].name) != 0)
			continue;
		token->alg = rows[i].alg;
		token->pem = rows[i].pem;
		return;
	}
	fprintf(stderr, "there is no %s here\n", name);
	exit(2);
}

/* Make the one of this algorithm; it lives as long as the process. */
static inline struct signed_token signed_make(const char *name)
{
	struct signed_token token = { 0 };
	json_t *claims = signed_claims();
	struct eddy_jwt *parsed;

	signed_choose(name, &token);
	if ((token.pem ?
		     eddy_jwk_from_pem(eddy_str_from(token.pem), NULL, &token.key) :
		     eddy_jwk_from_secret(eddy_str_from(SIGNED_SECRET), NULL, &token.key)) < 0 ||
	    eddy_jwt_sign(token.key, token.alg, NULL, claims, &token.text) < 0 ||
	    eddy_jwt_parse(eddy_str_from(token.text), EDDY_JWS_BIT(token.alg), &parsed) != 0) {
		fprintf(stderr, "can't make a token of %s\n", name);
		exit(1);
	}
	json_decref(claims);
	token.signed_text = parsed->signed_text;
	token.signature = parsed->signature;
	return token;
}

/* Verify over and over, and print what it took. Each thread that does it has done so before. */
static inline void signed_measure(void (*verify)(void), double seconds)
{
	struct micro micro;

	for (int i = 0; i < 32; i++)
		verify();
	micro = micro_begin(seconds);
	do {
		for (int i = 0; i < 16; i++)
			verify();
	} while (micro_goes_on(&micro, 16));
	micro_print(&micro);
}

#endif
