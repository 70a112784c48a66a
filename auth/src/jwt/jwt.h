/* jwt.h: what a token is made of. */
#ifndef EDDYI_JWT_H
#define EDDYI_JWT_H

#include "object.h"

#include <eddy/jwt.h>

/* 1. Nothing of it changes once eddy_jwt_parse() has returned, but `refs`, and the tree of the claims, which may come later.
 * 2. `bytes` holds the text as it came, and behind it, decoded: the signature, `kid`, the claims. The signed text is the
 *    first part of it.
 * 3. The bytes are a credential, so they are wiped. */
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
