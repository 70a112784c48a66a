/* rsa.h: RSA private key operations by libcrypto. */
#ifndef EDDYI_RSA_H
#define EDDYI_RSA_H

#include "wolfcrypt.h"

#include <wolfssl/wolfcrypt/rsa.h>

/* Perform a private key operation for wolfSSL, which does the padding. Any thread may call it.
 * Return: 0; CRYPTOCB_UNAVAILABLE if nothing was done; RSA_BUFFER_E. */
int eddyi_rsa(const wc_CryptoInfo *info);

#endif
