/* eddy/bearer.h: routes that open for a valid bearer token alone.
 *
 *     eddy_app_with_bearer_auth(app, &(struct eddy_bearer_options){
 *                                            .audiences = EDDY_LIST("https://api.example"),
 *                                            .secret_file = "/etc/shop/secret",
 *                                    });
 *     eddy_route_authorize(eddy_app_map_get(app, "/admin", admin), eddy_roles("admin"));
 *
 * A token comes in the Authorization field (RFC 6750 section 2.1). It is checked against one static key, which
 * stands here, or against the keys of an issuer (eddy/oauth.h); without either an app that guards something does
 * not start. Who is refused is told why, by status and `www-authenticate`: docs/auth.md has the table.
 *
 * A token that was found good is kept, in memory of each loop: the next request with it costs a look-up. It is
 * verified anew from its `exp` on, and when keys change.
 *
 * Where eddy-auth was built with -Djwt-auth=disabled, calls of these functions do not compile.
 */
#ifndef EDDY_BEARER_H
#define EDDY_BEARER_H

#include <eddy/app.h>
#include <eddy/member.h>
#include <eddy/req.h>
#include <eddy/rule.h>

#ifdef EDDY_NO_JWT_AUTH
#define EDDY_BEARER_API                                                                            \
	__attribute__((error("eddy-auth was built without bearer tokens (-Djwt-auth=disabled)")))
#else
#define EDDY_BEARER_API EDDY_API
#endif

EDDY_BEGIN_DECLS

/* Every field: 0 or NULL means its default. */
struct eddy_bearer_options {
	const char *const
		*audiences; /* one must be in `aud`; NULL ends; default: no token may have an aud */
	const char *issuer; /* what `iss` must be; default: anything, or eddy_oauth_options' */
	/* That tokens may be signed by, such as "HS512"; NULL ends; default: all that suit the key. Those of a
	 * secret are HS256, from 48 bytes on HS384, and from 64 on HS512 (RFC 7518 section 3.2). */
	const char *const *algorithms;
	const char *realm;  /* in challenges, 255 bytes at most; default: none */
	uint64_t leeway_ns; /* that clocks may differ by; default 60 s; EDDY_JWT_NO_LEEWAY: none */
	/* Take tokens over plain HTTP from who is not on this machine; default: 400. Behind a proxy that does
	 * TLS, name it in .trusted_proxies, and its fields in .forwarded, instead. */
	bool allow_plain_http;

	/* ---- the static key: one of these at most; a file has 64 KiB at most ---- */
	struct eddy_str secret;  /* raw bytes, 32 at least */
	const char *secret_file; /* a file's raw bytes, 32 at least */
	const char *secret_env;  /* those of an environment variable */
	const char *key_file;    /* a public key in PEM, or a JWK */
	const char *key_env;     /* the same in an environment variable */

	unsigned cache_max; /* tokens that a loop keeps, each with its claims: some 4 KiB for one of a
			     * KiB, and never over 512; default 1024 */
	bool no_cache;      /* keep none */
};

/* Describe how tokens are checked; all of it is copied, and what was said before is forgotten. The section
 * [bearer] of the app's configuration file wins (docs/config.md). */
EDDY_BEARER_API void eddy_app_with_bearer_auth(struct eddy_app *app,
					       const struct eddy_bearer_options *options);

/* Guard everything that the app, a group or a route answers, before any filter that is added later: only
 * requests with a valid token that satisfies `rule` get in; NULL: any valid token. Of several guards all must
 * be satisfied. Every answer has `cache-control: no-store` unless it says otherwise. The rule is copied.
 * The documents of eddy/oauth_metadata.h stay open: filters behind a guard see no token there. One that answers
 * those who have none, as CORS does preflights, is added before. */
EDDY_BEARER_API void eddy_app_authorize(struct eddy_app *app, const struct eddy_rule *rule);
EDDY_BEARER_API void eddy_group_authorize(struct eddy_group *group, const struct eddy_rule *rule);
EDDY_BEARER_API void eddy_route_authorize(struct eddy_route *route, const struct eddy_rule *rule);

/* The token of a request that a guard has let in; it lives as long as the request. Return: NULL where no guard
 * stands. */
EDDY_BEARER_API const struct eddy_jwt *eddy_req_token(const struct eddy_req *req);

/* Read its claims into a struct, as eddy_json_into() does; strings live as long as the request.
 * Return: 0; -EINVAL, and a sentence in `ret_why` (EDDY_WHY_SIZE bytes, or NULL); -ENOENT without a token; -ENOMEM. */
#define eddy_req_claims_into(req, members, ret_target, ret_why)                                    \
	eddy_req_claims_read((req), (members), sizeof(members) / sizeof(*(members)), (ret_target), \
			     (ret_why))
EDDY_BEARER_API int eddy_req_claims_read(const struct eddy_req *req,
					 const struct eddy_member *members, size_t count,
					 void *ret_target, char *ret_why);

/* What the guards of all apps have done, since the process began; metrics show it as well (docs/metrics.md). */
struct eddy_bearer_stats {
	uint64_t let_in;    /* requests with a token that was good, and good enough */
	uint64_t refused;   /* by 400 or 401 */
	uint64_t forbidden; /* by 403 */
	uint64_t unknown;   /* by 503: no key was ever loaded */
	uint64_t cached;    /* of those let in or forbidden: tokens that were not verified again */
};

/* Read them. Any thread. */
EDDY_BEARER_API struct eddy_bearer_stats eddy_bearer_stats(void);

EDDY_END_DECLS

#endif
