/* wolfcrypt.h: the headers of wolfSSL's ciphers, with its build options, and what answers its calls by libcrypto.
 * Include it first. */
#ifndef EDDYI_WOLFCRYPT_H
#define EDDYI_WOLFCRYPT_H

/* Its options would enable _FORTIFY_SOURCE regardless of the build. */
#define WOLFSSL_OPTIONS_IGNORE_SYS
#include <wolfssl/options.h>
/* Defined by the options, but it applies to OpenSSL's headers, too. */
#undef OPENSSL_NO_EC
#include <wolfssl/wolfcrypt/cryptocb.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

#include <stdbool.h>

/* The functions that answer return 0; CRYPTOCB_UNAVAILABLE if nothing was done; an error of wolfSSL. Any thread may
 * call them. */

/* Fetch the AES-GCM ciphers, once before the first record. Return: false if libcrypto lacks them. */
bool eddyi_gcm_open(void);

/* Seal or open an AES-GCM record. Return: also AES_GCM_AUTH_E, WC_HW_E. */
int eddyi_gcm(const wc_CryptoInfo *info);

/* Perform a private key operation of RSA; wolfSSL does the padding. Return: also RSA_BUFFER_E. */
int eddyi_rsa(const wc_CryptoInfo *info);

/* Create the curves P-256, P-384 and P-521, once before the first call. Return: false if libcrypto lacks them. */
bool eddyi_ec_open(void);

/* Sign, exchange keys, or generate a key on a curve. Return: also IS_POINT_E, if the peer's point is not on the
 * curve. */
int eddyi_ec(const wc_CryptoInfo *info);

#endif
