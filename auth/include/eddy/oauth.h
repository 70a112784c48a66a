/* eddy/oauth.h: bearer tokens of an OAuth 2.1 or OpenID Connect issuer.
 *
 *     eddy_app_with_oauth(app, &(struct eddy_oauth_options){ .issuer = "https://issuer.example" });
 *     eddy_app_use_oauth(app);
 *
 * The issuer's metadata (RFC 8414, else OpenID Connect Discovery) and key set are fetched when the
 * first token needs them, and again when a token names an unknown key or the set is older than
 * .max_key_age_ns. Requests on all loops share one fetch. A failed fetch leaves the last good set
 * in use. Until a set is loaded, guarded routes answer 503 and reject no token.
 *
 * If eddy-auth is built with -Doauth-client=disabled, calling these functions is a compile error.
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

/* An issuer, and how its keys are fetched. A zero field takes its default. */
struct eddy_oauth_options {
	const char *issuer; /* its URL, byte for byte as in `iss` of its tokens; mandatory */
	uint64_t refresh_cooldown_ns; /* between fetches for unknown keys; default 60 s */
	uint64_t max_key_age_ns;      /* after which a set is fetched again; default 15 min */

	/* ---- how keys are fetched ---- */

	bool allow_http;        /* accept plain HTTP for issuer and key set, for development */
	uint64_t timeout_ns;    /* for metadata and keys together; default 5 s */
	unsigned redirects_max; /* default 3; each needs https unless .allow_http */
	bool no_redirects;      /* follow none */
	const char *ca_file;    /* PEM certificates to trust beside the system's; default: none */
};

/* Set the app's issuer. The options are copied, strings included. The section [oauth.client] of the
 * app's configuration file takes precedence (docs/config.md). */
EDDY_OAUTH_API void eddy_app_with_oauth(struct eddy_app *app,
					const struct eddy_oauth_options *options);

/* Verify the tokens of the app's guards (eddy/bearer.h) with the issuer's keys. A second call does
 * nothing. Most issuers set `aud`: name your service in .audiences of eddy_bearer_options. */
EDDY_OAUTH_API void eddy_app_use_oauth(struct eddy_app *app);

/* Counters of key fetches since the process started, also shown by metrics (docs/metrics.md). */
struct eddy_oauth_stats {
	uint64_t fetched; /* successful fetches */
	uint64_t failed;  /* failed fetches */
	uint64_t waited;  /* requests that waited for one */
};

/* Get the counters of key fetches. Any thread may call it. */
EDDY_OAUTH_API struct eddy_oauth_stats eddy_oauth_stats(void);

EDDY_END_DECLS

#endif
