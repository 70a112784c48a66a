/* eddy/bearer.h: authentication and authorization of requests by bearer tokens (JSON Web Tokens).
 *
 *     eddy_app_with_bearer_auth(app, &(struct eddy_bearer_options){
 *                                            .audiences = EDDY_LIST("https://api.example"),
 *                                            .secret_file = "/etc/shop/secret",
 *                                    });
 *     eddy_app_authorize(eddy_app_map_get(app, "/admin", admin), eddy_roles("admin"));
 *
 * The token is read from the Authorization field (RFC 6750 section 2.1), with .cookie also from a
 * cookie, and verified with one static key, set here, or with the keys of an issuer (eddy/oauth.h).
 * An app that calls eddy_app_authorize() and has no key does not start. docs/auth.md lists the
 * statuses and challenges of rejected requests.
 *
 * Each loop caches valid tokens until their `exp`, or until keys change.
 * If eddy-auth is built with -Djwt-auth=disabled, calling these functions is a compile error.
 */
#ifndef EDDY_BEARER_H
#define EDDY_BEARER_H

#include <eddy/app.h>
#include <eddy/member.h>
#include <eddy/req.h>
#include <eddy/rule.h>

#pragma GCC system_header /* see eddy/target.h */

#ifdef EDDY_NO_JWT_AUTH
#define EDDY_BEARER_API                                                                            \
	__attribute__((error("eddy-auth was built without bearer tokens (-Djwt-auth=disabled)")))
#else
#define EDDY_BEARER_API EDDY_API
#endif

EDDY_BEGIN_DECLS

/* How tokens are verified. A zero field takes its default. */
struct eddy_bearer_options {
	/* Accepted `aud` values, of which a token must have one; NULL ends the list. Default:
	 * tokens with an `aud` are rejected. */
	const char *const *audiences;
	/* Required `iss` with a static key; default: any. Not used with eddy/oauth.h. */
	const char *issuer;
	/* Accepted algorithms, such as "HS512"; NULL ends the list; default: all that suit the key.
	 * A secret suits HS256, from 48 bytes on also HS384, from 64 on HS512 (RFC 7518, 3.2). */
	const char *const *algorithms;
	const char *realm;  /* sent in challenges; at most 255 bytes; default: none */
	uint64_t leeway_ns; /* tolerated clock skew; default 60 s; EDDY_JWT_NO_LEEWAY: none */
	/* Name of a cookie, at most 255 bytes, whose value is accepted as a token: for EventSource,
	 * downloads and images, which can't send the Authorization field. Browsers add cookies to
	 * requests of any site's page (CSRF), so it counts for GET and HEAD only; other methods
	 * with a token in the cookie alone get 401. A token in both places is 400 (RFC 6750 section
	 * 2), as is the cookie twice. Default: no cookie. */
	const char *cookie;
	/* Accept tokens over plain HTTP from other machines; default: they get 400. Behind a proxy
	 * that terminates TLS, set .trusted_proxies and .forwarded instead. */
	bool allow_plain_http;

	/* ---- the static key: one of these at most; a file has at most 64 KiB ---- */

	struct eddy_str secret;  /* raw bytes, at least 32 */
	const char *secret_file; /* a file of raw bytes, at least 32 */
	const char *secret_env;  /* an environment variable of at least 32 bytes */
	const char *key_file;    /* a file with a public key in PEM, or a JWK */
	const char *key_env;     /* the same in an environment variable */

	/* Tokens that a loop caches; default 1024, at most 1048576. A token of 1 KiB takes some 4
	 * KiB with its claims, and none more than 512 KiB. */
	unsigned cache_max;
	bool no_cache; /* cache none */
};

/* Set how tokens are verified, in place of earlier options. Everything is copied. The section
 * [bearer] of the app's configuration file takes precedence (docs/config.md). */
EDDY_BEARER_API void eddy_app_with_bearer_auth(struct eddy_app *app,
					       const struct eddy_bearer_options *options);

/* Accept only requests with a valid token that satisfies `rule`; NULL: any valid token. The guard
 * is a filter (middleware): on an app or a group it covers all routes, and it runs before filters
 * that are added later. Of several guards all must be satisfied. The rule is copied. Responses
 * without `cache-control` get `no-store`; those with one get `vary: cookie` if .cookie is set. The
 * documents of eddy/oauth_metadata.h need no token: there eddy_req_token() is NULL. Add CORS before
 * the guard: preflights have no token. */
EDDY_BEARER_API void eddy_app_authorize(union eddy_target target, const struct eddy_rule *rule);

/* Get the token of a request; it lives as long as the request. Return: NULL if no guard has
 * accepted the request. */
EDDY_BEARER_API const struct eddy_jwt *eddy_req_token(const struct eddy_req *req);

/* Read the claims of a request's token into a struct, as eddy_json_into() does. Strings live as
 * long as the request. Return: 0; -EINVAL if a claim does not fit, and a sentence in `ret_why`
 * (EDDY_WHY_SIZE bytes, or NULL); -ENOENT if there is no token; -ENOMEM. */
#define eddy_req_claims_into(req, members, ret_target, ret_why)                                    \
	eddyi_req_claims_read((req), (members), sizeof(members) / sizeof(*(members)),              \
			      (ret_target), (ret_why))
EDDY_BEARER_API int eddyi_req_claims_read(const struct eddy_req *req,
					  const struct eddy_member *members, size_t count,
					  void *ret_target, char *ret_why);

/* Counters of all guards since the process started, also shown by metrics (docs/metrics.md). */
struct eddy_bearer_stats {
	uint64_t let_in;    /* requests accepted */
	uint64_t refused;   /* requests rejected with 400 or 401 */
	uint64_t forbidden; /* requests rejected with 403 */
	uint64_t unknown;   /* requests rejected with 503: no key was ever loaded */
	uint64_t cached;    /* tokens found in the cache */
};

/* Get the counters of all guards. Any thread may call it. */
EDDY_BEARER_API struct eddy_bearer_stats eddy_bearer_stats(void);

EDDY_END_DECLS

#endif
