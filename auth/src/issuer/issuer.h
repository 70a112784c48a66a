/* issuer.h: the keys of an issuer, for all loops of an app: fetched when they are needed, and kept.
 *
 * A task of the app does all fetching, one fetch at a time; who needs its outcome waits for it on whichever
 * loop. So no request owns a fetch, and none that is cancelled takes it along.
 */
#ifndef EDDYI_ISSUER_H
#define EDDYI_ISSUER_H

#include <eddy/app.h>
#include <eddy/keyset.h>
#include <eddy/oauth.h>

struct eddyi_issuer;

/* Make one, and have the app fetch its keys while it runs. It is the app's. Never NULL. */
struct eddyi_issuer *eddyi_issuer_new(struct eddy_app *app);

/* Offer what became of all issuers' keys to who shows it. */
void eddyi_issuer_offer_figures(void);

/* Take the options, before anybody asks: with defaults filled in, .redirects_max 0 for none, and strings that are
 * the app's. Before the next run once more: keys of another issuer are dropped then. What is wrong with them is a
 * mistake of the app. Suspends. Return: 0, -ECANCELED. */
int eddyi_issuer_start(struct eddyi_issuer *issuer, const struct eddy_oauth_options *options);

/* Whether there are keys, and none have to be fetched. Never suspends, and takes no lock. In a task. */
bool eddyi_issuer_is_ready(const struct eddyi_issuer *issuer);

/* Get the keys, fetched if they never were or are too old. Suspends when they have to be, for as long as the
 * timeout at most. Return: 0, and a reference; -EAGAIN when none were ever loaded, -ECANCELED. */
int eddyi_issuer_keys(struct eddyi_issuer *issuer, struct eddy_keyset **ret_set,
		      unsigned *ret_version);

/* A token names a key that is not in the set of this version: get a newer one, fetched if the last fetch is
 * long enough ago. Suspends likewise. Return: 0, and a reference; -ENOKEY when there is no newer one,
 * -ECANCELED. */
int eddyi_issuer_newer_keys(struct eddyi_issuer *issuer, unsigned version,
			    struct eddy_keyset **ret_set, unsigned *ret_version);

/* Whether what was verified by the keys of this version still counts: they are the latest, and not too old.
 * Never suspends, and takes no lock. In a task. */
bool eddyi_issuer_is_current(const struct eddyi_issuer *issuer, unsigned version);

#endif
