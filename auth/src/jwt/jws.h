/* jws.h: names and digests of the signature algorithms; to be included first. */
#ifndef EDDYI_JWS_H
#define EDDYI_JWS_H

/* wolfCrypt with the library's own options, which would enable _FORTIFY_SOURCE regardless of the
 * build. */
#define WOLFSSL_OPTIONS_IGNORE_SYS
#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/wolfcrypt/hash.h>

#include <eddy/jwk.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

/* Find the algorithm of exactly this name. Return: 0; -ENOENT if there is none. */
EDDY_API int eddyi_jws_alg_find(struct eddy_str name, enum eddy_jws_alg *ret_alg);

#define EDDYI_DIGEST_MAX 64

struct eddyi_digest {
	enum wc_HashType type;
	unsigned len;
	int hmac;              /* type for wc_HmacSetKey() */
	int mgf;               /* type of MGF1 (RFC 8017 section B.2.1) */
	unsigned char oid_end; /* last byte of its OID; all SHA-2 share the others */
};

/* Get the digest of an algorithm; NULL for EdDSA. */
const struct eddyi_digest *eddyi_jws_digest(enum eddy_jws_alg alg);

/* Translate a result of wolfCrypt: -ENOMEM, else `error`; 0 if it is no error. */
int eddyi_wolfcrypt_error(int r, int error);

#endif
