/* tls_credential.h: a certificate and its key, read from their files and ready for sessions. */
#ifndef EDDYI_TLS_CREDENTIAL_H
#define EDDYI_TLS_CREDENTIAL_H

#include "tickets.h"

#include <eddy/str.h>
#include <eddy/tls.h>

struct WOLFSSL_CTX;

struct eddyi_tls_credential {
	struct WOLFSSL_CTX *context; /* owned */
	char *names; /* that the certificate is for, each with a NUL behind it; owned */
	size_t names_len;
	unsigned key; /* a bit of enum eddyi_hello_key; all of them for one of no known kind */
	unsigned char fingerprint[EDDYI_FINGERPRINT_LEN]; /* SHA-256 of the certificate */
	bool is_quick; /* the accelerator signs with the key in less than a millisecond */
};

/* Read the files, with an ERROR record for what is wrong. `options` says all but the names of the files;
 * `key` may be NULL. Blocks. Return: 0, -EINVAL; then there is nothing to deinit. */
int eddyi_tls_credential_init(struct eddyi_tls_credential *credential,
			      const struct eddy_tls_options *options, const char *cert,
			      const char *key);

void eddyi_tls_credential_deinit(struct eddyi_tls_credential *credential);

/* The cipher suites, of 1.2 and 1.3, best first, for sessions that the kernel may take over, or others. Without instructions for AES
 * wolfSSL does ChaCha20 two and a half times as fast as AES-GCM, and in constant time. The kernel and the accelerator have them, and do AES-GCM
 * alone. */
const char *eddyi_tls_ciphers(bool ktls);

/* The same, for a client that prefers ChaCha20: it lacks these instructions itself. */
const char *eddyi_tls_ciphers_chacha(void);

/* Whether the certificate is for this host, in lower case. */
bool eddyi_tls_credential_fits(const struct eddyi_tls_credential *credential, struct eddy_str host);

#endif
