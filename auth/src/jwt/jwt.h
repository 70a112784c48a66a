/* jwt.h: the structure of a token, and its claims. */
#ifndef EDDYI_JWT_H
#define EDDYI_JWT_H

#include "object.h"

#include <eddy/jwt.h>

/* Invariants:
 * 1. After eddy_jwt_parse() only `refs` changes, and the tree of the claims, which may be built
 *    later.
 * 2. `bytes` has the original text, which begins with the signed text, and then, decoded, the
 *    signature, `kid` and the claims.
 * 3. The bytes are a credential, and are wiped. */
struct eddy_jwt {
	atomic_uint refs;
	enum eddy_jws_alg alg;
	struct eddy_str text, signed_text, signature;
	struct eddy_str kid; /* .ptr NULL: none */
	struct eddyi_object claims;
	size_t size; /* of `bytes` */
	unsigned char bytes[];
};

/* Check only the claims of a token with a verified signature (RFC 7519 section 4.1). Registered
 * claims must have their type. exp is required, nbf is not. Never suspends. Return: 0; a fault. */
int eddyi_jwt_check_claims(const struct eddy_jwt *token, const struct eddy_jwt_options *options);

/* Get the time when a token expires, in ns since 1970, without leeway. Return: 0 if it has none;
 * UINT64_MAX if it is out of range. */
EDDY_API uint64_t eddyi_jwt_expires(const struct eddy_jwt *token);

#endif
