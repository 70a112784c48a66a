/* eddy/oauth.h: bearer tokens of an OAuth 2.1 or OpenID Connect issuer.
 *
 *     eddy_app_with_oauth(app, &(struct eddy_oauth_options){ .issuer = "https://issuer.example" });
 *     eddy_app_use_oauth(app);
 *
 * The issuer's metadata (RFC 8414, else OpenID Connect Discovery) and its key set are fetched when a token needs
 * them for the first time, and again when a token names a key that is not in the set, or the set is older than
 * .max_key_age_ns. One fetch serves all who wait, on all loops; a set that was good is only replaced by one that
 * is good. While none was ever loaded, guarded routes answer 503: no token is blamed for its issuer.
 *
 * Where eddy-auth was built with -Doauth-client=disabled, calls of these functions do not compile.
 */
#ifndef EDDY_OAUTH_H
#define EDDY_OAUTH_H

#include <eddy/app.h>

#ifdef EDDY_NO_OAUTH_CLIENT
#define EDDY_OAUTH_API                                                                             \
	__attribute__((error("eddy-auth was built without issuers (-Doauth-client=disabled)")))
#else
#define EDDY_OAUTH_API EDDY_API
#endif

EDDY_BEGIN_DECLS

/* Every field: 0 or NULL means its default. */
struct eddy_oauth_options {
	const char *issuer; /* its URL, as its tokens have it in `iss`, to the byte; mandatory */
	uint64_t refresh_cooldown_ns; /* between two fetches that tokens with unknown keys ask for; default 60 s */
	uint64_t max_key_age_ns; /* after which a set is fetched again; default 15 min */

	/* ---- how it is fetched ---- */
	bool allow_http; /* take issuers and key sets over plain HTTP, for development; default: no */
	uint64_t timeout_ns;    /* for metadata and keys together; default 5 s */
	unsigned redirects_max; /* default 3; each must be as allowed as the first */
	bool no_redirects;      /* follow none */
	const char *ca_file; /* certificates to trust beside the system's, in PEM; default: none */
};

/* Describe the issuer; the options are copied, strings too. The section [oauth.client] of the app's configuration
 * file wins (docs/config.md). */
EDDY_OAUTH_API void eddy_app_with_oauth(struct eddy_app *app,
					const struct eddy_oauth_options *options);

/* Check the tokens of the app's guards (eddy/bearer.h) against this issuer's keys; a second call changes nothing.
 * Most issuers say in `aud` whom a token is for: name yourself in .audiences of eddy_bearer_options. */
EDDY_OAUTH_API void eddy_app_use_oauth(struct eddy_app *app);

/* What became of issuers' keys, since the process began; metrics show it as well (docs/metrics.md). */
struct eddy_oauth_stats {
	uint64_t fetched; /* sets that were loaded */
	uint64_t failed;  /* fetches that brought none */
	uint64_t waited;  /* requests that waited for one */
};

/* Read them. Any thread. */
EDDY_OAUTH_API struct eddy_oauth_stats eddy_oauth_stats(void);

EDDY_END_DECLS

#endif
