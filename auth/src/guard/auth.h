/* auth.h: what an app is told of bearer tokens, and what is made of it when it starts. */
#ifndef EDDYI_AUTH_H
#define EDDYI_AUTH_H

#include <eddy/bearer.h>
#include <eddy/keyset.h>

/* Where the keys come from that tokens are checked by: a static key, or an issuer. */
struct eddyi_key_source {
	/* Whether get() has some at hand, and need not fetch them. Never suspends. */
	bool (*is_ready)(const void *self);
	/* Get them. Suspends. Return: 0, and a reference; -EAGAIN when there never were any, -ECANCELED. */
	int (*get)(void *self, struct eddy_keyset **ret_set, unsigned *ret_version);
	/* Get newer ones than of this version, which lack a token's. Suspends.
	 * Return: 0, and a reference; -ENOKEY when there are none, -ECANCELED. */
	int (*get_newer)(void *self, unsigned version, struct eddy_keyset **ret_set,
			 unsigned *ret_version);
	/* Whether what was verified by those of this version still counts. Never suspends. */
	bool (*is_current)(const void *self, unsigned version);
};

struct eddyi_auth {
	struct eddy_app *app;
	struct eddy_bearer_options
		options; /* the configuration file has had its say once the app starts */
	bool is_guarded; /* there is a guard */
	const struct eddyi_key_source *issuer; /* that is used; NULL: none is */
	void *issuer_self;

	/* From the start on, and anew by each: */
	unsigned number; /* what verified tokens are kept by; no other app has it, nor had this one */
	const struct eddyi_key_source *source;
	void *source_self;
	struct eddy_jwt_options checks;
	unsigned algs;                /* that tokens may have */
	struct eddy_keyset *own_keys; /* the static one */
};

/* What the app has; made when it is asked for the first time. */
struct eddyi_auth *eddyi_auth_of(struct eddy_app *app);

/* The same, about to be told something: it counts from the next start on, of a test as well. */
struct eddyi_auth *eddyi_auth_touch(struct eddy_app *app);

/* From now on nothing counts that was verified before. */
void eddyi_auth_renew(struct eddyi_auth *auth);

/* Check a token as the options have it. Suspends. `ret_is_known` says whether its signature was good before.
 * Return: 0 and a reference; a fault; -EAGAIN when its issuer's keys were never loaded, -ECANCELED, -ENOMEM. */
int eddyi_auth_verify(struct eddyi_auth *auth, struct eddy_str text, struct eddy_jwt **ret_token,
		      bool *ret_is_known);

/* Whether the options name a static key, and how many. */
unsigned eddyi_static_key_count(const struct eddy_bearer_options *options);

/* Make it the source of keys. Suspends. Return: 0, also when what is wrong is a mistake of the app; -ENOMEM. */
int eddyi_static_key_load(struct eddyi_auth *auth);

#endif
