/* issuer.h: the keys of an issuer, shared by all loops of an app: fetched on demand, and cached.
 *
 * A task of the app makes all fetches, one at a time; requests on any loop wait for the result. No
 * request owns a fetch, so cancelling a request cancels no fetch.
 */
#ifndef EDDYI_ISSUER_H
#define EDDYI_ISSUER_H

#include <eddy/app.h>
#include <eddy/keyset.h>
#include <eddy/oauth.h>

struct eddyi_issuer;

/* Make an issuer, owned by the app, whose task fetches keys while the app runs. Never NULL. */
struct eddyi_issuer *eddyi_issuer_new(struct eddy_app *app);

/* Register the counters of fetches as figures, which metrics show. */
void eddyi_issuer_offer_figures(void);

/* Set the options, before any other call and before each run: with defaults filled in,
 * .redirects_max 0 for none, and strings owned by the app. Keys of another issuer are dropped.
 * Invalid options are mistakes of the app. Suspends. Return: 0, -ECANCELED. */
int eddyi_issuer_start(struct eddyi_issuer *issuer, const struct eddy_oauth_options *options);

/* Whether keys are loaded and current. Takes no lock. Never suspends. Called in a task. */
bool eddyi_issuer_is_ready(const struct eddyi_issuer *issuer);

/* Get the keys; fetches them if none were loaded or they are too old. Suspends for a fetch, at most
 * for the timeout. Return: 0, and a reference; -EAGAIN if none were ever loaded; -ECANCELED. */
int eddyi_issuer_keys(struct eddyi_issuer *issuer, struct eddy_keyset **ret_set,
		      unsigned *ret_version);

/* Get keys newer than `version`, for a token with an unknown key. Fetches them after the cooldown;
 * suspends meanwhile. Return: 0, and a reference; -ENOKEY if there are none; -ECANCELED. */
int eddyi_issuer_newer_keys(struct eddyi_issuer *issuer, unsigned version,
			    struct eddy_keyset **ret_set, unsigned *ret_version);

/* Whether tokens verified with keys of this version are still valid: it is the latest, and not too
 * old. Takes no lock. Never suspends. Called in a task. */
bool eddyi_issuer_is_current(const struct eddyi_issuer *issuer, unsigned version);

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
