/* accelerated.h: verifying by libcrypto, where this was built with the accelerator; else no key has a verifier. */
#ifndef EDDYI_AUTH_ACCELERATED_H
#define EDDYI_AUTH_ACCELERATED_H

#if EDDYI_ACCELERATOR
#include <eddy/verifier.h>
#else
#define eddy_verifier_of_rsa(n, e) NULL
#define eddy_verifier_of_ec(x, y) NULL
#define eddy_verifier_of_secret(secret) NULL
#define eddy_verifier_check(verifier, bits, is_pss, text, signature) (-EKEYREJECTED)
#define eddy_verifier_free(verifier) ((void)(verifier))
#endif

#endif
