/* issuer_fetch.h: one fetch of an issuer's metadata and key set. */
#ifndef EDDYI_ISSUER_FETCH_H
#define EDDYI_ISSUER_FETCH_H

#include <eddy/keyset.h>
#include <eddy/oauth.h>

/* Size of the reason of a failed fetch: a sentence or two, with advice. */
#define EDDYI_ISSUER_WHY_SIZE 1024

/* A key set and its text. */
struct eddyi_issuer_keys {
	struct eddy_keyset *set;
	struct eddy_str text; /* .ptr is allocated; NULL: none */
};

/* Fetch the metadata, from OAuth's URL or else OpenID Connect's, and the key set that it names.
 * Suspends, for at most .timeout_ns; the options have defaults filled in. Each fetch has its own
 * client, so that certificate files are read again and no connection gets old.
 * Return: 0, and the keys; 1 if their text is `known`, and nothing changes; -errno, and `ret_why`:
 * -ETIMEDOUT, -ECANCELED, -EBADMSG, -ENOKEY, -ENOMEM, those of eddy/client.h. */
int eddyi_issuer_fetch(const struct eddy_oauth_options *options, struct eddy_str known,
		       struct eddyi_issuer_keys *ret_keys, char ret_why[EDDYI_ISSUER_WHY_SIZE]);

#endif
