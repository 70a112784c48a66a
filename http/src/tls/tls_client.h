/* tls_client.h: the client's end of sessions, whoever uses them: whom it trusts, how one begins, and whether it is the
 * host that was asked who answers. What goes between the two ends is tls.h's.
 */
#ifndef EDDYI_TLS_CLIENT_H
#define EDDYI_TLS_CLIENT_H

#include "text/host.h"

struct WOLFSSL_CTX;
struct WOLFSSL_SESSION;
struct eddyi_tls;

/* Every field: 0 means its default. */
struct eddyi_tls_client_options {
	const char *ca_file; /* authorities to trust beside the system's, in PEM; default none */
	bool ca_file_only;   /* trust no others; default: the system's as well */
	bool trusts_all;     /* whoever answers: nothing is verified; default: all is */
	const char *
		ciphers; /* suites in the library's words, with ':' between; default: all good ones */
};

/* Read the files, and make what the sessions of a client have in common. Blocks, and goes deep: for the pool.
 * Return: 0; -EINVAL when `ca_file` is unusable; -EPROTONOSUPPORT when the library has none of `ciphers`; -ENOMEM. */
int eddyi_tls_client_open(const struct eddyi_tls_client_options *options,
			  struct WOLFSSL_CTX **ret_context);

/* No session uses it any more. NULL is fine. */
void eddyi_tls_client_close(struct WOLFSSL_CTX *context);

/* Begin a session with a host: eddyi_tls_shake() says hello. `resumed` is one to resume, or NULL; borrowed.
 * Return: NULL when memory is out. */
struct eddyi_tls *eddyi_tls_client_begin(struct WOLFSSL_CTX *context, const struct eddyi_host *host,
					 struct WOLFSSL_SESSION *resumed);

/* After the handshake: whether the certificate is for the host, or was when the session began that is resumed. */
bool eddyi_tls_client_is_theirs(struct eddyi_tls *tls, const struct eddyi_host *host);

/* Say in a sentence why a session has broken with -EBADMSG. Return: -ENOKEY, nobody who is trusted has signed the
 * certificate; -EKEYREJECTED, it is not good; -EBADMSG. */
int eddyi_tls_client_explain(struct eddyi_tls *tls, char *ret_text, size_t size);

#endif
