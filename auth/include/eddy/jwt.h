/* eddy/jwt.h: signed JSON Web Tokens (RFC 7519, RFC 8725): parsing, verification and signing.
 *
 *     struct eddy_jwt *token;
 *     int r = eddy_jwt_parse(text, EDDY_JWS_PUBLIC, &token);
 *
 *     if (r == 0)
 *             r = eddy_jwt_verify(token, keys, &(struct eddy_jwt_options){ .issuer = "https://issuer.example" });
 *     if (r > 0)
 *             eddy_info("app", "refused: %s", eddy_jwt_fault_text(r));
 *     if (r == 0)
 *             use(eddy_jwt_str(token, "sub"));
 *     eddy_jwt_unref(token);
 *
 * Do not trust anything in a token before eddy_jwt_verify() has returned 0.
 */
#ifndef EDDY_JWT_H
#define EDDY_JWT_H

#include <eddy/keyset.h>

EDDY_BEGIN_DECLS

struct eddy_jwt;

/* Why a token is rejected. Faults are positive, errors of the process negative. */
enum eddy_jwt_fault {
	EDDY_JWT_MALFORMED = 1,
	EDDY_JWT_ALG,      /* `none`, unknown, not accepted, or not that of the key of its kid */
	EDDY_JWT_CRITICAL, /* its header has a `crit` */
	EDDY_JWT_KEY, /* no key has its kid; without a kid, not exactly one has its algorithm */
	EDDY_JWT_SIGNATURE,
	EDDY_JWT_MISSING, /* exp is missing, or a required iss or aud */
	EDDY_JWT_EXPIRED,
	EDDY_JWT_NOT_YET, /* nbf is in the future */
	EDDY_JWT_ISSUER,
	EDDY_JWT_AUDIENCE,
};

/* Describe a fault in two or three words, such as "token expired". Never freed. */
EDDY_API const char *eddy_jwt_fault_text(enum eddy_jwt_fault fault);

/* The longest token that is accepted, in bytes. */
#define EDDY_JWT_MAX ((size_t)(8 * EDDY_KIB))

/* Read a token in compact form (RFC 7515 section 3.1), of one of these algorithms
 * (EDDY_JWS_BIT()s), without a key. `typ` may be missing, JWT or at+jwt. base64url must be strict
 * (RFC 4648 section 5, no padding). JSON has at most 16 levels and no duplicate members.
 * Return: 0; EDDY_JWT_MALFORMED, EDDY_JWT_ALG or EDDY_JWT_CRITICAL; -ENOMEM. */
EDDY_API int eddy_jwt_parse(struct eddy_str text, unsigned algs, struct eddy_jwt **ret_token);

/* What a token must claim. A zero field takes its default. Borrowed for the call. */
struct eddy_jwt_options {
	const char *issuer; /* required `iss`; default: any, or none */
	/* Accepted `aud` values, of which a token must have one; NULL ends the list. Default:
	 * tokens with an `aud` are rejected. */
	const char *const *audiences;
	uint64_t leeway_ns; /* tolerated clock skew; default 60 s; EDDY_JWT_NO_LEEWAY: none */
	uint64_t now_ns;    /* since 1970; default: now */
};

#define EDDY_JWT_NO_LEEWAY UINT64_MAX

/* Verify that a token was signed by a key of the set and is valid now: its key, its signature, then
 * its claims (RFC 7519 section 4.1). exp is required, nbf is not. Suspends as eddy_jwk_verify()
 * does. Return: 0; a fault; -ECANCELED, -ENOMEM. */
EDDY_API int eddy_jwt_verify(const struct eddy_jwt *token, const struct eddy_keyset *set,
			     const struct eddy_jwt_options *options);

/* Take or release a reference to a token; NULL is accepted. Any thread may call it. */
EDDY_API struct eddy_jwt *eddy_jwt_ref(struct eddy_jwt *token);
EDDY_API void eddy_jwt_unref(struct eddy_jwt *token);

/* Get the claims of a token as a JSON object, borrowed from it and built by the first call; the
 * functions below do not need it. Any thread may call it. Return: NULL on allocation failure. */
EDDY_API const json_t *eddy_jwt_claims(const struct eddy_jwt *token);

/* Get a claim that is a string; .ptr is NULL if it is missing or has another type. */
EDDY_API struct eddy_str eddy_jwt_str(const struct eddy_jwt *token, const char *name);

/* Tell whether the claim `name` contains `text`: as a word of a string with blanks between words,
 * such as `scope` (RFC 8693 section 4.2), or as an element of an array of strings. */
EDDY_API bool eddy_jwt_has(const struct eddy_jwt *token, const char *name, struct eddy_str text);

/* Sign `claims` with a key, which must have `alg`. The header has `alg`, `typ` ("JWT" if `type` is
 * NULL) and the key's `kid`. Suspends as eddy_jwk_sign() does, after it has read the claims.
 * Return: 0 and a string to be freed; -EINVAL if the key cannot sign so, or the claims are not an
 * object of at most 16 levels; -EMSGSIZE above EDDY_JWT_MAX; -EIO without random numbers;
 * -ECANCELED, -ENOMEM. */
EDDY_API int eddy_jwt_sign(const struct eddy_jwk *key, enum eddy_jws_alg alg, const char *type,
			   const json_t *claims, char **ret_text);

EDDY_END_DECLS

#endif
