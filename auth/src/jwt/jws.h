/* jws.h: what the algorithms of signatures are made of. */
#ifndef EDDYI_JWS_H
#define EDDYI_JWS_H

#include "wolfcrypt.h"

#include <eddy/jwk.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

#define EDDYI_DIGEST_MAX 64

struct eddyi_digest {
	enum wc_HashType type;
	unsigned len;
	int hmac;              /* what wc_HmacSetKey() calls it */
	int mgf;               /* MGF1 with it (RFC 8017 section B.2.1) */
	unsigned char oid_end; /* the last byte of its OID; the others are those of all SHA-2 */
};

/* That of an algorithm; EdDSA has none of its own. */
const struct eddyi_digest *eddyi_jws_digest(enum eddy_jws_alg alg);

/* What wolfCrypt returned, as an error of ours: memory that is out, else `error`; 0 when it is no error. */
int eddyi_wolfcrypt_error(int r, int error);

#endif
