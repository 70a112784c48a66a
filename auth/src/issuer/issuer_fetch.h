/* issuer_fetch.h: a look at an issuer's metadata and key set, where they are. */
#ifndef EDDYI_ISSUER_FETCH_H
#define EDDYI_ISSUER_FETCH_H

#include <eddy/keyset.h>
#include <eddy/oauth.h>

/* Why nothing was fetched, and what can be done about it: a sentence or two, for people. */
#define EDDYI_ISSUER_WHY_SIZE 1024

/* A key set, and what it was made of. */
struct eddyi_issuer_keys {
	struct eddy_keyset *set;
	struct eddy_str text; /* .ptr is allocated; NULL: there is none */
};

/* Fetch the metadata, by OAuth's URL or else by OpenID Connect's, and the key set that it names. Suspends, for
 * .timeout_ns at most; the options have their defaults filled in. It has a client of its own, so that files of
 * certificates are read anew, and no connection gets old.
 * Return: 0, and the keys; 1 when their text is `known`, and nothing is to be changed; -errno, and
 * `ret_why`: -ETIMEDOUT, -ECANCELED, -EBADMSG, -ENOKEY, -ENOMEM, those of eddy/client.h. */
int eddyi_issuer_fetch(const struct eddy_oauth_options *options, struct eddy_str known,
		       struct eddyi_issuer_keys *ret_keys, char ret_why[EDDYI_ISSUER_WHY_SIZE]);

#endif
