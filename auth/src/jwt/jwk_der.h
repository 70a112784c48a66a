/* jwk_der.h: keys in DER, as PEM contains them. */
#ifndef EDDYI_JWK_DER_H
#define EDDYI_JWK_DER_H

#include "jwk.h"

/* A key that was read: `parts` borrows from the text, `x` and `y`. */
struct eddyi_jwk_der {
	struct eddyi_jwk_parts parts;
	char x[EDDYI_JWK_COORDINATE_MAX], y[EDDYI_JWK_COORDINATE_MAX];
};

/* Set the kind, the curve and the numbers. A missing public half of a private key is computed.
 * Return: 0, -EBADMSG, -ENOTSUP; for private keys also as eddyi_ec_public_of(). */
typedef int eddyi_jwk_der_fn(struct eddy_str der, struct eddyi_jwk_der *key);

eddyi_jwk_der_fn eddyi_jwk_der_spki;        /* RFC 5280 section 4.1 */
eddyi_jwk_der_fn eddyi_jwk_der_certificate; /* likewise; the rest is ignored */
eddyi_jwk_der_fn eddyi_jwk_der_rsa_public;  /* RFC 8017 section A.1.1 */
eddyi_jwk_der_fn eddyi_jwk_der_rsa;         /* RFC 8017 section A.1.2 */
eddyi_jwk_der_fn eddyi_jwk_der_ec;          /* RFC 5915 section 3 */
eddyi_jwk_der_fn eddyi_jwk_der_pkcs8;       /* RFC 5208 section 5, RFC 5958 section 2 */

#endif
