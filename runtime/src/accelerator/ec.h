/* ec.h: signatures and key exchange on the curves P-256, P-384 and P-521, by libcrypto. */
#ifndef EDDYI_EC_H
#define EDDYI_EC_H

#include "wolfcrypt.h"

#include <wolfssl/wolfcrypt/ecc.h>

/* Create the curves, once before the other functions. Return: false if libcrypto lacks them. */
bool eddyi_ec_open(void);

/* Sign, exchange keys, or generate a key for wolfSSL. Any thread may call it.
 * Return: 0; CRYPTOCB_UNAVAILABLE if nothing was done; IS_POINT_E if the peer's point is not on the
 * curve; an error of wolfSSL. */
int eddyi_ec(const wc_CryptoInfo *info);

#endif
