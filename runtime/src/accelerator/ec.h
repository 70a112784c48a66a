/* ec.h: signatures and key exchange on the curves P-256, P-384 and P-521, by libcrypto. */
#ifndef EDDYI_EC_H
#define EDDYI_EC_H

#include "wolfcrypt.h"

#include <wolfssl/wolfcrypt/ecc.h>

/* Make the curves. Once, before the first of the others. Return: false where libcrypto has none. */
bool eddyi_ec_open(void);

/* Do what wolfSSL asks for, if it signs, exchanges keys, or makes a key. Any thread.
 * Return: 0; CRYPTOCB_UNAVAILABLE, nothing was done; IS_POINT_E, the peer's point is not on the curve; an error of wolfSSL's. */
int eddyi_ec(const wc_CryptoInfo *info);

#endif
