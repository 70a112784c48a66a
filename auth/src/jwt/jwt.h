/* jwt.h: the structure of a token. */
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

#endif
