/* tls_credential.h: a certificate and its key, read from files for sessions. */
#ifndef EDDYI_TLS_CREDENTIAL_H
#define EDDYI_TLS_CREDENTIAL_H

#include "tickets.h"

#include <eddy/str.h>
#include <eddy/tls.h>

struct WOLFSSL_CTX;

struct eddyi_tls_credential {
	struct WOLFSSL_CTX *context; /* owned */
	char *names;                 /* names of the certificate, each with a NUL; owned */
	size_t names_len;
	unsigned key; /* a bit of enum eddyi_hello_key; all if it is of an unknown kind */
	unsigned char fingerprint[EDDYI_FINGERPRINT_LEN]; /* SHA-256 of the certificate */
	bool is_quick; /* the accelerator signs in less than a millisecond */
};

/* Read the files, with an ERROR log record for each problem. `options` has everything but the file
 * names; `key` may be NULL. Blocks. Return: 0; -EINVAL, and there is nothing to deinit. */
int eddyi_tls_credential_init(struct eddyi_tls_credential *credential,
			      const struct eddy_tls_options *options, const char *cert,
			      const char *key);

void eddyi_tls_credential_deinit(struct eddyi_tls_credential *credential);

/* Get the cipher suites of 1.2 and 1.3 in order of preference, for sessions with kTLS or without.
 * Without AES instructions wolfSSL does ChaCha20 2.5 times as fast as AES-GCM, and in constant
 * time. The kernel and the accelerator use AES instructions, and do only AES-GCM. */
const char *eddyi_tls_ciphers(bool ktls);

/* The same for a client that prefers ChaCha20, since it lacks AES instructions. */
const char *eddyi_tls_ciphers_chacha(void);

/* Whether the certificate is for this host, in lower case. */
bool eddyi_tls_credential_fits(const struct eddyi_tls_credential *credential, struct eddy_str host);

#endif
