/* auth.h: what an app is told of bearer tokens, and what is made of it when it starts. */
#ifndef EDDYI_AUTH_H
#define EDDYI_AUTH_H

#include <eddy/bearer.h>
#include <eddy/keyset.h>

struct eddyi_issuer;

struct eddyi_auth {
	struct eddy_app *app;
	struct eddy_bearer_options
		options; /* the configuration file has had its say once the app starts */
	unsigned number; /* that no other app has */
	bool is_guarded; /* there is a guard */
	struct eddyi_issuer *issuer; /* whose tokens count; NULL: those of the static key do */
	const char *issuer_name;     /* its URL */

	/* From the start on: */
	struct eddy_jwt_options checks;
	unsigned algs;            /* that tokens may have */
	struct eddy_keyset *keys; /* the static one; NULL where there is an issuer */
};

/* What the app has; made when it is asked for the first time. */
struct eddyi_auth *eddyi_auth_of(struct eddy_app *app);

/* Check a token as the options have it. Suspends.
 * Return: 0 and a reference; a fault; -EAGAIN when its issuer's keys were never loaded, -ECANCELED, -ENOMEM. */
int eddyi_auth_verify(struct eddyi_auth *auth, struct eddy_str text, struct eddy_jwt **ret_token);

/* Make the static key of the options. Return: 0; -EINVAL, and what is wrong is a mistake of the app. */
int eddyi_static_key_load(struct eddyi_auth *auth);

#endif
