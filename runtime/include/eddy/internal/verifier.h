/* eddy/verifier.h: signatures and MACs, verified by libcrypto. Part of libeddy-accelerator.
 *
 *     struct eddyi_verifier *verifier = eddyi_verifier_of_rsa(n, e);
 *     int r = eddyi_verifier_check(verifier, 256, false, text, signature);
 *
 *     eddyi_verifier_free(verifier);
 *
 * A verifier is made once for a key. It keeps libcrypto's contexts between signatures, since making one takes as long as a MAC.
 * Any thread may use it. It does not check key strength; the caller must reject weak keys.
 */
#ifndef EDDY_VERIFIER_H
#define EDDY_VERIFIER_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddyi_verifier;

/* Make the verifier of an RSA key: its modulus and its public exponent, big-endian. Return: NULL on allocation failure, or where
 * libcrypto refuses the numbers. */
EDDY_API struct eddyi_verifier *eddyi_verifier_of_rsa(struct eddy_str n, struct eddy_str e);

/* Make the verifier of a public key of ECDSA on P-256: its coordinates, 32 bytes each. On other curves libcrypto is no quicker than
 * wolfSSL. Return: NULL on allocation failure, for other widths, and for a point that is not on the curve. */
EDDY_API struct eddyi_verifier *eddyi_verifier_of_p256(struct eddy_str x, struct eddy_str y);

/* Make the verifier of a secret, for HMAC. The secret is borrowed until eddyi_verifier_free(). Return: NULL on allocation failure,
 * or where libcrypto has no HMAC. */
EDDY_API struct eddyi_verifier *eddyi_verifier_of_secret(struct eddy_str secret);

/* Free a verifier, and wipe what it knows of a secret. NULL is fine. */
EDDY_API void eddyi_verifier_free(struct eddyi_verifier *verifier);

/* Check whether `signature` is that of `text`, with SHA-2 of 256, 384 or 512 bits. RSA: PSS with a salt as long as the hash if
 * `is_pss`, else PKCS #1 v1.5. ECDSA: r and s, 32 bytes each. HMAC: the whole MAC, compared in constant time.
 * Never suspends; wants 16 KiB of stack. Return: 0; -EKEYREJECTED, it is not; -ENOMEM. */
EDDY_API int eddyi_verifier_check(struct eddyi_verifier *verifier, unsigned bits, bool is_pss,
				  struct eddy_str text, struct eddy_str signature);

EDDY_END_DECLS

#endif
