/* tls_setup.h: the shared state of an app's TLS sessions: certificates, trust, tickets. */
#ifndef EDDYI_TLS_SETUP_H
#define EDDYI_TLS_SETUP_H

#include <stdbool.h>

struct eddy_tls_options;
struct eddyi_hello;
struct eddyi_tls_setup;
struct WOLFSSL;

/* Prepare the library, once. Any thread may call it. Return: false on allocation failure. */
bool eddyi_tls_init(void);

/* Create a setup; no file is read yet. Its strings are borrowed while it exists.
 * Return: NULL on allocation failure. */
struct eddyi_tls_setup *eddyi_tls_setup_new(const struct eddy_tls_options *options);

/* Free a setup that no session uses any more, or NULL. */
void eddyi_tls_setup_free(struct eddyi_tls_setup *setup);

/* Get the options, which may be changed until the setup is loaded. */
struct eddy_tls_options *eddyi_tls_setup_options(struct eddyi_tls_setup *setup);

/* Let clients choose HTTP/2 (ALPN). Called before the first session. */
void eddyi_tls_setup_offer_http2(struct eddyi_tls_setup *setup);

/* Add a pair of files besides that of the options. Return: 0, -ENOMEM. */
int eddyi_tls_setup_add(struct eddyi_tls_setup *setup, const char *cert, const char *key);

/* Call `fn(path, arg)` with each file that is read. */
void eddyi_tls_setup_each_file(const struct eddyi_tls_setup *setup,
			       void (*fn)(const char *path, void *arg), void *arg);

/* Read the files, with an ERROR log record for each unusable one. If all are usable, new sessions
 * use the new certificates. Any thread may call it; blocks: an eddy_offload_fn.
 * Return: 0; -EINVAL, and nothing changes. */
int eddyi_tls_setup_load(void *setup);

/* Write the ticket keys to a memfd for the next process. Return: its descriptor, -errno. */
int eddyi_tls_setup_save_tickets(struct eddyi_tls_setup *setup);

/* Read the keys from it. Return: 0, -EBADMSG, -errno. */
int eddyi_tls_setup_load_tickets(struct eddyi_tls_setup *setup, int fd);

/* Whether every certificate's key signs in less than a millisecond, and no client certificates have
 * to be verified. Any thread may call it. */
bool eddyi_tls_setup_is_quick(const struct eddyi_tls_setup *setup);

/* Begin a session with the certificate for the hello. Any thread may call it.
 * Return: NULL on allocation failure. */
struct WOLFSSL *eddyi_tls_setup_session(struct eddyi_tls_setup *setup,
					const struct eddyi_hello *hello);

#endif
