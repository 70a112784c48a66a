/* gcm.h: records of AES-GCM, sealed and opened by libcrypto. */
#ifndef EDDYI_GCM_H
#define EDDYI_GCM_H

#include "wolfcrypt.h"

/* Fetch the ciphers. Once, before the first record. Return: false where libcrypto has none. */
bool eddyi_gcm_open(void);

/* Seal or open what wolfSSL asks for. Return: 0, AES_GCM_AUTH_E; CRYPTOCB_UNAVAILABLE, nothing was done; WC_HW_E. */
int eddyi_gcm(const wc_CryptoInfo *info);

#endif
