/* accelerated.h: verifying by libcrypto, where this was built with the accelerator; else no key has a verifier. */
#ifndef EDDYI_AUTH_ACCELERATED_H
#define EDDYI_AUTH_ACCELERATED_H

#if EDDYI_ACCELERATOR
#include <eddy/verifier.h>
#else
#define eddy_verifier_of_rsa(n, e) ((void)(n), (void)(e), NULL)
#define eddy_verifier_of_p256(x, y) ((void)(x), (void)(y), NULL)
#define eddy_verifier_of_secret(secret) ((void)(secret), NULL)
#define eddy_verifier_free(verifier) ((void)(verifier))
#define eddy_verifier_check(verifier, bits, is_pss, text, signature) ((void)(is_pss), -EKEYREJECTED)
#endif

#endif
