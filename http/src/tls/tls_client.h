/* tls_client.h: the client's end of TLS sessions: trust, the beginning of a session, and
 * verification of the host. tls.h transfers its data. */
#ifndef EDDYI_TLS_CLIENT_H
#define EDDYI_TLS_CLIENT_H

#include "text/host.h"

struct WOLFSSL_CTX;
struct WOLFSSL_SESSION;
struct eddyi_tls;

/* A zero field takes its default. */
struct eddyi_tls_client_options {
	const char *ca_file; /* trusted authorities besides the system's, in PEM; default none */
	bool ca_file_only;   /* don't trust the system's; default: trust them too */
	bool trusts_all;     /* verify nothing; default: verify everything */
	/* Suites by the library's names, separated by ':'; default: all strong ones. */
	const char *ciphers;
};

/* Read the files, and make the context of a client's sessions. Blocks and needs a deep stack: call
 * it on the offload pool.
 * Return: 0; -EINVAL if `ca_file` is unusable; -EPROTONOSUPPORT for unknown `ciphers`; -ENOMEM. */
int eddyi_tls_client_open(const struct eddyi_tls_client_options *options,
			  struct WOLFSSL_CTX **ret_context);

/* Free a context that no session uses any more, or NULL. */
void eddyi_tls_client_close(struct WOLFSSL_CTX *context);

/* Begin a session with a host; eddyi_tls_shake() sends the hello. `resumed` is a session to resume,
 * or NULL; borrowed. Return: NULL on allocation failure. */
struct eddyi_tls *eddyi_tls_client_begin(struct WOLFSSL_CTX *context, const struct eddyi_host *host,
					 struct WOLFSSL_SESSION *resumed);

/* Whether the certificate of a finished handshake, or of a resumed session, is for the host. */
bool eddyi_tls_client_is_theirs(struct eddyi_tls *tls, const struct eddyi_host *host);

/* Describe why a session has failed with -EBADMSG. Return: -ENOKEY if no trusted authority has
 * signed the certificate; -EKEYREJECTED if it is otherwise invalid; -EBADMSG. */
int eddyi_tls_client_explain(struct eddyi_tls *tls, char *ret_text, size_t size);

#endif
