/* eddy/jwk.h: keys that sign tokens, and keys that verify them.
 *
 *     r = eddy_jwk_parse(text, &key);
 *
 * A key is read with care: RSA below 2048 bits, with an exponent that is even or below 3, or of a kind that
 * is known to be factored; points that are not on their curve, or of an order that is none; secrets that are
 * shorter than their algorithm's digest; and whatever is not coded strictly is refused. A key is not changed once
 * it is there, and may be used by any thread.
 */
#ifndef EDDY_JWK_H
#define EDDY_JWK_H

#include <eddy/str.h>
#include <jansson.h>

EDDY_BEGIN_DECLS

/* RFC 7518 section 3.1, RFC 8037 section 3.1. There is no `none`. */
enum eddy_jws_alg {
	EDDY_JWS_HS256,
	EDDY_JWS_HS384,
	EDDY_JWS_HS512,
	EDDY_JWS_RS256,
	EDDY_JWS_RS384,
	EDDY_JWS_RS512,
	EDDY_JWS_PS256,
	EDDY_JWS_PS384,
	EDDY_JWS_PS512,
	EDDY_JWS_ES256,
	EDDY_JWS_ES384,
	EDDY_JWS_ES512,
	EDDY_JWS_EDDSA, /* Ed25519 or Ed448, as the key is */
	EDDY_JWS_ALGS,  /* how many there are */
};

/* Sets of them: a bit each. */
#define EDDY_JWS_BIT(alg) (1u << (alg))
#define EDDY_JWS_SECRET                                                                            \
	(EDDY_JWS_BIT(EDDY_JWS_HS256) | EDDY_JWS_BIT(EDDY_JWS_HS384) | EDDY_JWS_BIT(EDDY_JWS_HS512))
#define EDDY_JWS_PUBLIC ((EDDY_JWS_BIT(EDDY_JWS_ALGS) - 1) & ~EDDY_JWS_SECRET)

/* The name in headers, such as "RS256". */
EDDY_API const char *eddy_jws_alg_name(enum eddy_jws_alg alg);

/* The algorithm of exactly this name. Return: 0, -ENOENT. */
EDDY_API int eddy_jws_alg_find(struct eddy_str name, enum eddy_jws_alg *ret_alg);

struct eddy_jwk;

/* Read a JSON Web Key (RFC 7517): kty RSA of up to 4096 bits, EC, OKP or oct, public or private. Its algorithms
 * are `alg` if it says so, else what kty and crv allow: of RSA RS* and PS*, of oct those whose digest is no longer
 * than the secret. Where they are there, `use` must be sig, and `key_ops` must have verify, or sign if the key can.
 * A private RSA key must have all of its numbers (p, q, dp, dq, qi). Suspends where a task calls it with a private
 * key: the offload pool looks whether its halves belong together.
 * Return: 0; -EBADMSG when it is no key of these, -EKEYREJECTED when it is weak, not on its curve or its halves do
 * not fit, -ENOTSUP when it is of another kind or size, or for another use, -ECANCELED, -ENOMEM. */
EDDY_API int eddy_jwk_parse(struct eddy_str text, struct eddy_jwk **ret_key);
EDDY_API int eddy_jwk_from_json(const json_t *json, struct eddy_jwk **ret_key);

/* Every field: 0 or NULL means its default. Strings are copied. */
struct eddy_jwk_options {
	const char *kid; /* default: none */
	unsigned algs;   /* EDDY_JWS_BIT()s; default: all that suit the key */
};

/* Read the first key of a PEM text: a public one (SPKI or PKCS #1), the one of a certificate, or a private one
 * that is not encrypted (PKCS #8, PKCS #1 or SEC 1); blocks of other kinds before it are skipped. Suspends as
 * eddy_jwk_parse() does. Return: as that, and -EINVAL when none of .algs suits the key. */
EDDY_API int eddy_jwk_from_pem(struct eddy_str pem, const struct eddy_jwk_options *options,
			       struct eddy_jwk **ret_key);

/* Make a key of a secret's raw bytes, at least 32. Never suspends. Return: as above. */
EDDY_API int eddy_jwk_from_secret(struct eddy_str secret, const struct eddy_jwk_options *options,
				  struct eddy_jwk **ret_key);

/* Keep a key, or let go of it; NULL is fine. Its secrets are wiped with the last reference. Any thread. */
EDDY_API struct eddy_jwk *eddy_jwk_ref(struct eddy_jwk *key);
EDDY_API void eddy_jwk_unref(struct eddy_jwk *key);

/* The key's name among others; .ptr is NULL when it has none. */
EDDY_API struct eddy_str eddy_jwk_kid(const struct eddy_jwk *key);

/* The algorithms that it may be used with: EDDY_JWS_BIT()s. */
EDDY_API unsigned eddy_jwk_algs(const struct eddy_jwk *key);

/* Whether it can sign: it is private, or a secret, and has no `key_ops` without sign. */
EDDY_API bool eddy_jwk_is_private(const struct eddy_jwk *key);

/* What others may know of a key, as JSON for a key set: without private members, with `use` sig, and with `alg`
 * when it is for one alone. Return: a new reference; NULL when memory is out, and of a secret. */
EDDY_API json_t *eddy_jwk_public_json(const struct eddy_jwk *key);

/* The thumbprint by SHA-256 (RFC 7638 section 3), as base64url: a name that nobody has to make up. Never published
 * of a secret: who has it can try secrets by it. */
#define EDDY_JWK_THUMBPRINT_SIZE 44
EDDY_API void eddy_jwk_thumbprint(const struct eddy_jwk *key,
				  char ret_text[EDDY_JWK_THUMBPRINT_SIZE]);

/* Bytes of a signature, and of what is signed, at most. */
#define EDDY_JWS_SIGNATURE_MAX 512
#define EDDY_JWS_TEXT_MAX ((size_t)(64 * EDDY_MIB))

/* Sign `text`. Suspends where a task calls it with a key that is no secret: the offload pool does it.
 * Return: bytes of the signature, as RFC 7518 and RFC 8037 have it; -EINVAL when the key can't sign or is not for
 * `alg`, -EMSGSIZE, -ECANCELED, -ENOMEM, -EIO when there are no random numbers. */
EDDY_API ssize_t eddy_jwk_sign(const struct eddy_jwk *key, enum eddy_jws_alg alg,
			       struct eddy_str text,
			       unsigned char ret_signature[EDDY_JWS_SIGNATURE_MAX]);

/* Look whether `signature` is that of `text` by this key. Suspends with ES384 and ES512, and with ES256 where libcrypto does not
 * verify, if a task calls it: the offload pool does it, since it may take a millisecond.
 * Return: 0; -EKEYREJECTED when it is not; -EINVAL when the key is not for `alg`; -EMSGSIZE, -ECANCELED, -ENOMEM. */
EDDY_API int eddy_jwk_verify(const struct eddy_jwk *key, enum eddy_jws_alg alg,
			     struct eddy_str text, struct eddy_str signature);

EDDY_END_DECLS

#endif
