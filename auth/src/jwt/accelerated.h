/* accelerated.h: verification by libcrypto; without the accelerator keys have no verifier. */
#ifndef EDDYI_AUTH_ACCELERATED_H
#define EDDYI_AUTH_ACCELERATED_H

#if EDDYI_ACCELERATOR
#include <eddy/internal/verifier.h>
#else
#define eddyi_verifier_of_rsa(n, e) ((void)(n), (void)(e), NULL)
#define eddyi_verifier_of_p256(x, y) ((void)(x), (void)(y), NULL)
#define eddyi_verifier_of_secret(secret) ((void)(secret), NULL)
#define eddyi_verifier_free(verifier) ((void)(verifier))
#define eddyi_verifier_check(verifier, bits, is_pss, text, signature)                              \
	((void)(is_pss), -EKEYREJECTED)
#endif

#endif
