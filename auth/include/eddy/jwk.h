/* eddy/jwk.h: JSON Web Keys (RFC 7517), which sign and verify tokens.
 *
 *     r = eddy_jwk_parse(text, &key);
 *
 * Weak and malformed keys are rejected: RSA below 2048 bits, with an even exponent or one below 3,
 * or of a kind known to be factored; points off their curve or of small order; secrets shorter than
 * their algorithm's digest; encodings that are not strict. Any thread may use a key: it never
 * changes.
 */
#ifndef EDDY_JWK_H
#define EDDY_JWK_H

#include <eddy/str.h>
#include <jansson.h>

EDDY_BEGIN_DECLS

/* Signature algorithms (RFC 7518 section 3.1, RFC 8037 section 3.1). There is no `none`. */
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
	EDDY_JWS_EDDSA, /* Ed25519 or Ed448, depending on the key */
	EDDY_JWS_ALGS,  /* the number of algorithms */
};

/* Sets of algorithms: one bit for each. */
#define EDDY_JWS_BIT(alg) (1u << (alg))
#define EDDY_JWS_SECRET                                                                            \
	(EDDY_JWS_BIT(EDDY_JWS_HS256) | EDDY_JWS_BIT(EDDY_JWS_HS384) | EDDY_JWS_BIT(EDDY_JWS_HS512))
#define EDDY_JWS_PUBLIC ((EDDY_JWS_BIT(EDDY_JWS_ALGS) - 1) & ~EDDY_JWS_SECRET)

/* Get the name of an algorithm in token headers, such as "RS256". */
EDDY_API const char *eddy_jws_alg_name(enum eddy_jws_alg alg);

struct eddy_jwk;

/* Read a JSON Web Key (RFC 7517), public or private: kty RSA of up to 4096 bits, EC, OKP or oct.
 * Its algorithms are `alg` if present, else those that kty and crv allow: for RSA RS* and PS*, for
 * oct those with a digest no longer than the secret. If present, `use` must be sig, and `key_ops`
 * must have verify, or sign if the key can. A private RSA key needs p, q, dp, dq and qi. Suspends
 * in a task if the key is private: the offload pool (worker threads for blocking calls) checks that
 * its halves match.
 * Return: 0; -EBADMSG if it is not such a key; -EKEYREJECTED if it is weak, off its curve or its
 * halves differ; -ENOTSUP if its kind, size or use is not supported; -ECANCELED, -ENOMEM. */
EDDY_API int eddy_jwk_parse(struct eddy_str text, struct eddy_jwk **ret_key);

/* Properties of a key from PEM or a secret. A zero field takes its default. Strings are copied. */
struct eddy_jwk_options {
	const char *kid; /* default: none */
	unsigned algs;   /* EDDY_JWS_BIT()s; default: all that suit the key */
};

/* Read the first key of a PEM text: public (SPKI or PKCS #1), of a certificate, or private and not
 * encrypted (PKCS #8, PKCS #1 or SEC 1). Blocks of other kinds before it are skipped. Suspends as
 * eddy_jwk_parse() does. Return: as eddy_jwk_parse(), and -EINVAL if none of .algs suits the
 * key. */
EDDY_API int eddy_jwk_from_pem(struct eddy_str pem, const struct eddy_jwk_options *options,
			       struct eddy_jwk **ret_key);

/* Make a key of a secret's raw bytes, at least 32. Never suspends. Return: 0; -EKEYREJECTED if it
 * is too short; -ENOTSUP above 64 MiB; -EINVAL if none of .algs suits it; -ENOMEM. */
EDDY_API int eddy_jwk_from_secret(struct eddy_str secret, const struct eddy_jwk_options *options,
				  struct eddy_jwk **ret_key);

/* Take or release a reference to a key; NULL is accepted. The last release wipes its secrets. Any
 * thread may call it. */
EDDY_API struct eddy_jwk *eddy_jwk_ref(struct eddy_jwk *key);
EDDY_API void eddy_jwk_unref(struct eddy_jwk *key);

/* Get the key's id; .ptr is NULL if it has none. */
EDDY_API struct eddy_str eddy_jwk_kid(const struct eddy_jwk *key);

/* Get the algorithms of a key: EDDY_JWS_BIT()s. */
EDDY_API unsigned eddy_jwk_algs(const struct eddy_jwk *key);

/* Tell whether a key can sign: it is private or a secret, and its `key_ops`, if any, have sign. */
EDDY_API bool eddy_jwk_is_private(const struct eddy_jwk *key);

/* Make the public JSON of a key for a key set: with `use` sig, and with `alg` if it has a single
 * algorithm. Return: a new reference; NULL for a secret, and on allocation failure. */
EDDY_API json_t *eddy_jwk_public_json(const struct eddy_jwk *key);

/* Compute the SHA-256 thumbprint of a key in base64url (RFC 7638 section 3), usable as its kid.
 * Never publish the thumbprint of a secret: it helps to guess the secret. */
#define EDDY_JWK_THUMBPRINT_SIZE 44
EDDY_API void eddy_jwk_thumbprint(const struct eddy_jwk *key,
				  char ret_text[EDDY_JWK_THUMBPRINT_SIZE]);

/* Limits in bytes: a signature, and a signed text. */
#define EDDY_JWS_SIGNATURE_MAX 512
#define EDDY_JWS_TEXT_MAX ((size_t)(64 * EDDY_MIB))

/* Sign `text` with a key. Suspends in a task unless the key is a secret: the offload pool signs.
 * Return: bytes of the signature, in the format of RFC 7518 and RFC 8037; -EINVAL if the key cannot
 * sign or is not for `alg`; -EMSGSIZE if the text is too long; -EIO without random numbers;
 * -ECANCELED, -ENOMEM. */
EDDY_API ssize_t eddy_jwk_sign(const struct eddy_jwk *key, enum eddy_jws_alg alg,
			       struct eddy_str text,
			       unsigned char ret_signature[EDDY_JWS_SIGNATURE_MAX]);

/* Verify the `signature` of `text` with a key. Suspends in a task with ES384 and ES512, and with
 * ES256 unless libcrypto verifies it: the offload pool does, since it may take a millisecond.
 * Return: 0; -EKEYREJECTED if the signature is wrong; -EINVAL if the key is not for `alg`;
 * -EMSGSIZE if the text is too long; -ECANCELED, -ENOMEM. */
EDDY_API int eddy_jwk_verify(const struct eddy_jwk *key, enum eddy_jws_alg alg,
			     struct eddy_str text, struct eddy_str signature);

EDDY_END_DECLS

#endif
