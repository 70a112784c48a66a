/* gcm.h: AES-GCM records, sealed and opened by libcrypto. */
#ifndef EDDYI_GCM_H
#define EDDYI_GCM_H

#include "wolfcrypt.h"

/* Fetch the ciphers, once before the first record. Return: false if libcrypto lacks them. */
bool eddyi_gcm_open(void);

/* Seal or open a record for wolfSSL.
 * Return: 0; AES_GCM_AUTH_E; CRYPTOCB_UNAVAILABLE if nothing was done; WC_HW_E. */
int eddyi_gcm(const wc_CryptoInfo *info);

#endif
