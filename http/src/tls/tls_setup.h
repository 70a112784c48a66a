/* tls_setup.h: what the TLS sessions of an app have in common: certificates, whom they trust. */
#ifndef EDDYI_TLS_SETUP_H
#define EDDYI_TLS_SETUP_H

#include <stdbool.h>

struct eddy_tls_options;
struct eddyi_hello;
struct eddyi_tls_setup;
struct WOLFSSL;

/* Prepare the library, once. Any thread. Return: false on allocation failure. */
bool eddyi_tls_init(void);

/* Describe; nothing is read yet. Strings are borrowed for as long as it
 * lives. Return: NULL on allocation failure. */
struct eddyi_tls_setup *eddyi_tls_setup_new(const struct eddy_tls_options *options);

/* No session uses it any more. NULL is fine. */
void eddyi_tls_setup_free(struct eddyi_tls_setup *setup);

/* What it was told, which may be changed until it is loaded. */
struct eddy_tls_options *eddyi_tls_setup_options(struct eddyi_tls_setup *setup);

/* Add a pair of files, besides that of the options. Return: 0, -ENOMEM. */
int eddyi_tls_setup_add(struct eddyi_tls_setup *setup, const char *cert, const char *key);

/* Call `fn(path, arg)` with each file that is read. */
void eddyi_tls_setup_each_file(const struct eddyi_tls_setup *setup,
			       void (*fn)(const char *path, void *arg), void *arg);

/* Read the files, with an ERROR record for each that is unusable; then, if none is, take the new
 * certificates for sessions to come. Any thread; blocks: an eddy_offload_fn.
 * Return: 0; -EINVAL and everything is as it was. */
int eddyi_tls_setup_load(void *setup);

/* Put the keys of session tickets into a file in memory, for the process that takes over. Return: its descriptor, -errno. */
int eddyi_tls_setup_save_tickets(struct eddyi_tls_setup *setup);

/* Take them out of it. Return: 0, -EBADMSG, -errno. */
int eddyi_tls_setup_load_tickets(struct eddyi_tls_setup *setup, int fd);

/* Whether each certificate's key signs in less than a millisecond, and clients show none, which would have to be verified. Any
 * thread. */
bool eddyi_tls_setup_is_quick(const struct eddyi_tls_setup *setup);

/* Begin a session, with the certificate for what the hello asked for. Any thread.
 * Return: NULL on allocation failure. */
struct WOLFSSL *eddyi_tls_setup_session(struct eddyi_tls_setup *setup,
					const struct eddyi_hello *hello);

#endif
