/* eddy/jwt.h: JSON Web Tokens, signed (RFC 7519, RFC 8725): checked, and made.
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
 * Nothing in a token is believed before eddy_jwt_verify() has returned 0.
 */
#ifndef EDDY_JWT_H
#define EDDY_JWT_H

#include <eddy/keyset.h>

EDDY_BEGIN_DECLS

struct eddy_jwt;

/* Why a token is refused: above 0, so that they are no errors of the process. */
enum eddy_jwt_fault {
	EDDY_JWT_MALFORMED = 1,
	EDDY_JWT_ALG,      /* `none`, unknown, not accepted, or not that of the key of its kid */
	EDDY_JWT_CRITICAL, /* its header has a `crit` */
	EDDY_JWT_KEY,      /* no key of this kid; without a kid, no single one for its algorithm */
	EDDY_JWT_SIGNATURE,
	EDDY_JWT_MISSING, /* exp is, or iss or aud where one is expected */
	EDDY_JWT_EXPIRED,
	EDDY_JWT_NOT_YET, /* nbf lies ahead */
	EDDY_JWT_ISSUER,
	EDDY_JWT_AUDIENCE,
};

/* Say it in two or three words, such as "token expired". Never freed. */
EDDY_API const char *eddy_jwt_fault_text(enum eddy_jwt_fault fault);

/* Bytes of a token at most. */
#define EDDY_JWT_MAX ((size_t)(8 * EDDY_KIB))

/* Read a token in its compact form (RFC 7515 section 3.1) of one of these algorithms (EDDY_JWS_BIT()s), without
 * any key. `typ` may be missing, JWT or at+jwt. base64url is taken in its one strict form (RFC 4648 section 5
 * without padding), JSON up to 16 levels deep and without members of one name.
 * Return: 0; EDDY_JWT_MALFORMED, EDDY_JWT_ALG or EDDY_JWT_CRITICAL; -ENOMEM. */
EDDY_API int eddy_jwt_parse(struct eddy_str text, unsigned algs, struct eddy_jwt **ret_token);

/* Every field: 0 or NULL means its default. All of it is borrowed for the call. */
struct eddy_jwt_options {
	const char *issuer; /* `iss` must be there and be this; default: anything */
	const char *const *
		audiences; /* one of them must be in `aud`; NULL ends; default: no `aud` may be there */
	uint64_t leeway_ns; /* that clocks may differ by; default 60 s; EDDY_JWT_NO_LEEWAY: none */
	uint64_t now_ns;    /* since 1970; default: now */
};

#define EDDY_JWT_NO_LEEWAY UINT64_MAX

/* Look whether a token was signed by a key of this set and is valid now. The key comes first, then its signature, then
 * the claims. Suspends as eddy_jwk_verify() does. Return: 0; a fault; -ECANCELED, -ENOMEM. */
EDDY_API int eddy_jwt_verify(const struct eddy_jwt *token, const struct eddy_keyset *set,
			     const struct eddy_jwt_options *options);

/* Look at the claims alone, of a token whose signature is known to be good (RFC 7519 section 4.1): those that have a
 * type there must be of it, exp is required, and nbf counts if it is there. Never suspends. Return: 0, a fault. */
EDDY_API int eddy_jwt_check_claims(const struct eddy_jwt *token,
				   const struct eddy_jwt_options *options);

/* Keep a token, or let go of it; NULL is fine. Any thread. */
EDDY_API struct eddy_jwt *eddy_jwt_ref(struct eddy_jwt *token);
EDDY_API void eddy_jwt_unref(struct eddy_jwt *token);

/* Get the text that it was read from, borrowed from the token: who has it can use it. */
EDDY_API struct eddy_str eddy_jwt_text(const struct eddy_jwt *token);

/* Tell what its header says; .ptr of a kid is NULL when there is none. */
EDDY_API enum eddy_jws_alg eddy_jwt_alg(const struct eddy_jwt *token);
EDDY_API struct eddy_str eddy_jwt_kid(const struct eddy_jwt *token);

/* Get its claims: an object, borrowed from the token. It is made at the first call; the functions below don't need it. Any thread.
 * Return: NULL on allocation failure. */
EDDY_API const json_t *eddy_jwt_claims(const struct eddy_jwt *token);

/* Get one that is a string; .ptr is NULL when it is not there, or something else. */
EDDY_API struct eddy_str eddy_jwt_str(const struct eddy_jwt *token, const char *name);

/* Tell when it expires, in ns since 1970 without any leeway; UINT64_MAX for later than that can say, 0 when it
 * has no such time. */
EDDY_API uint64_t eddy_jwt_expires(const struct eddy_jwt *token);

/* Tell whether `text` is a word of the claim `name`: of a string with blanks between words, as `scope` is (RFC 8693
 * section 4.2), or one of an array of strings. */
EDDY_API bool eddy_jwt_has(const struct eddy_jwt *token, const char *name, struct eddy_str text);

/* Sign `claims` with a key; `alg` must be one of the key's. The header has `alg`, `typ` ("JWT" when `type` is NULL)
 * and the key's `kid`. Suspends as eddy_jwk_sign() does, once it has read the claims.
 * Return: 0 and a string to be freed; -EINVAL when the key can't sign so, or the claims are no object of up to 16
 * levels; -EMSGSIZE over EDDY_JWT_MAX, -ECANCELED, -ENOMEM, -EIO without random numbers. */
EDDY_API int eddy_jwt_sign(const struct eddy_jwk *key, enum eddy_jws_alg alg, const char *type,
			   const json_t *claims, char **ret_text);

EDDY_END_DECLS

#endif
