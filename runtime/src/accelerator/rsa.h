/* rsa.h: private keys of RSA, used by libcrypto. */
#ifndef EDDYI_RSA_H
#define EDDYI_RSA_H

#include "wolfcrypt.h"

#include <wolfssl/wolfcrypt/rsa.h>

/* Do what wolfSSL asks for, if it takes a private key; padding is done already, or comes after. Any thread.
 * Return: 0; CRYPTOCB_UNAVAILABLE, nothing was done; RSA_BUFFER_E. */
int eddyi_rsa(const wc_CryptoInfo *info);

#endif
