/* auth.h: an app's bearer token options, and its state while it runs. */
#ifndef EDDYI_AUTH_H
#define EDDYI_AUTH_H

#include <eddy/bearer.h>
#include <eddy/keyset.h>

/* A source of the keys that verify tokens: a static key, or an issuer. */
struct eddyi_key_source {
	/* Whether get() returns without a fetch. Never suspends. */
	bool (*is_ready)(const void *self);
	/* Get the keys. Suspends. Return: 0, and a reference; -EAGAIN if there are none;
	 * -ECANCELED. */
	int (*get)(void *self, struct eddy_keyset **ret_set, unsigned *ret_version);
	/* Get keys newer than `version`. Suspends. Return: 0, and a reference; -ENOKEY;
	 * -ECANCELED. */
	int (*get_newer)(void *self, unsigned version, struct eddy_keyset **ret_set,
			 unsigned *ret_version);
	/* Whether tokens verified with keys of this version are still valid. Never suspends. */
	bool (*is_current)(const void *self, unsigned version);
};

struct eddyi_auth {
	struct eddy_app *app;
	struct eddy_bearer_options options; /* final once the app starts */
	bool is_guarded;
	const struct eddyi_key_source *issuer; /* NULL: no issuer is used */
	void *issuer_self;

	/* Set by each start: */
	unsigned number; /* identifies cached tokens; unique to this app and start */
	const struct eddyi_key_source *source;
	void *source_self;
	struct eddy_jwt_options checks;
	unsigned algs;                /* accepted algorithms */
	struct eddy_keyset *own_keys; /* of the static key */
};

/* Get the app's state, created by the first call. */
struct eddyi_auth *eddyi_auth_of(struct eddy_app *app);

/* Get the app's state to change it; changes apply from the next start on, also of a test. */
struct eddyi_auth *eddyi_auth_touch(struct eddy_app *app);

/* Invalidate all cached tokens. */
void eddyi_auth_renew(struct eddyi_auth *auth);

/* Verify a token. Suspends. `ret_is_known`: it was in the cache. Return: 0 and a reference; a
 * fault; -EAGAIN if the issuer's keys were never loaded; -ECANCELED, -ENOMEM. */
int eddyi_auth_verify(struct eddyi_auth *auth, struct eddy_str text, struct eddy_jwt **ret_token,
		      bool *ret_is_known);

/* Count the static keys that the options name. */
unsigned eddyi_static_key_count(const struct eddy_bearer_options *options);

/* Load the static key as the source of keys. Suspends. Return: 0, also if the key is a mistake;
 * -ENOMEM. */
int eddyi_static_key_load(struct eddyi_auth *auth);

/* Counters of guards. */
enum eddyi_bearer_counted {
	EDDYI_BEARER_LET_IN,
	EDDYI_BEARER_REFUSED,
	EDDYI_BEARER_FORBIDDEN,
	EDDYI_BEARER_UNKNOWN,
	EDDYI_BEARER_CACHED,
	EDDYI_BEARER_COUNTED,
};

void eddyi_bearer_count(enum eddyi_bearer_counted what);

#endif
