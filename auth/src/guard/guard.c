/* The guard: a filter that accepts requests with a valid token that satisfies a rule. */
#include "auth.h"
#include "challenge.h"
#include "credentials.h"
#include "issuer/oauth_metadata.h"
#include "jwt/rule.h"

#include <eddy/coder.h>
#include <eddy/layer.h>
#include <eddy/peer.h>
#include <errno.h>
#include <stdio.h>

/* Retry-After in seconds without the issuer's keys; the next request fetches them at once. */
#define RETRY_AFTER "1"

struct guard {
	struct eddyi_auth *auth;
	const struct eddy_rule *rule;       /* a copy; NULL: any valid token */
	char scopes[EDDY_RULE_SCOPES_SIZE]; /* the scopes that it requires, separated by blanks */
};

/* Per request: the token, which the first of several guards verifies. */
struct seen {
	struct eddy_jwt *token;
};

static void seen_deinit(void *kept)
{
	struct seen *seen = kept;

	eddy_jwt_unref(seen->token);
}

static const struct eddy_req_layer layer = { "token", sizeof(struct seen), seen_deinit };

/* ---- rejecting ---- */

static int challenge(const struct guard *guard, struct eddy_req *req, struct eddy_res *res,
		     int status, const struct eddyi_challenge *why, const char *detail)
{
	struct eddyi_challenge said = *why;
	int r;

	said.realm = guard->auth->options.realm;
	said.resource_metadata = eddyi_oauth_metadata_resource_url(guard->auth->app);
	r = eddyi_challenge_set(&said, req, res);
	return r < 0 ? r : eddy_res_error(res, status, detail);
}

/* Without a token there is no error code (RFC 6750 section 3.1). */
static int ask_for_token(const struct guard *guard, struct eddy_req *req, struct eddy_res *res,
			 const char *detail)
{
	const struct eddyi_challenge why = { .scope = guard->scopes[0] ? guard->scopes : NULL };

	eddyi_bearer_count(EDDYI_BEARER_REFUSED);
	return challenge(guard, req, res, 401, &why, detail);
}

static int refuse(const struct guard *guard, struct eddy_req *req, struct eddy_res *res, int status,
		  const char *error, const char *description)
{
	const struct eddyi_challenge why = {
		.error = error,
		.description = description,
		.scope = guard->scopes[0] ? guard->scopes : NULL,
	};

	eddyi_bearer_count(EDDYI_BEARER_REFUSED);
	return challenge(guard, req, res, status, &why, description);
}

static int forbid(const struct guard *guard, struct eddy_req *req, struct eddy_res *res,
		  const char *scopes)
{
	const struct eddyi_challenge why = {
		.error = "insufficient_scope",
		.scope = scopes[0] ? scopes : NULL,
	};

	eddyi_bearer_count(EDDYI_BEARER_FORBIDDEN);
	return challenge(guard, req, res, 403, &why, "the token does not allow this request");
}

/* 503: the issuer failed, not the token. */
static int put_off(struct eddy_res *res)
{
	int r = eddy_res_set_z(res, "retry-after", RETRY_AFTER);

	eddyi_bearer_count(EDDYI_BEARER_UNKNOWN);
	return r < 0 ? r : eddy_res_error(res, 503, "the issuer's keys could not be loaded");
}

/* ---- authentication ---- */

/* Whether the token came over plain HTTP from another machine. */
static bool is_overheard(const struct eddyi_auth *auth, const struct eddy_req *req)
{
	return !auth->options.allow_plain_http && !eddy_req_is_secure(req) &&
	       !eddy_peer_is_local(eddy_req_peer(req));
}

/* Verify the request's token. Return: 0, with a valid token kept or a response made; -errno. */
static int authenticate(const struct guard *guard, struct eddy_req *req, struct eddy_res *res,
			struct seen *seen)
{
	struct eddy_str text;
	bool is_known;
	int r;

	if (is_overheard(guard->auth, req))
		return refuse(guard, req, res, 400, "invalid_request", "HTTPS required");
	r = eddyi_credentials_read(req, guard->auth->options.cookie, &text);
	if (r < 0)
		return r;
	switch ((enum eddyi_credentials)r) {
	case EDDYI_CREDENTIALS_NONE:
		return ask_for_token(guard, req, res, "a bearer token is required");
	case EDDYI_CREDENTIALS_UNSAFE:
		return ask_for_token(
			guard, req, res,
			"this method requires the bearer token in the Authorization field, not in "
			"a cookie");
	case EDDYI_CREDENTIALS_INVALID:
		return refuse(guard, req, res, 400, "invalid_request",
			      "expected one Authorization field with one bearer token");
	case EDDYI_CREDENTIALS_TWICE:
		return refuse(
			guard, req, res, 400, "invalid_request",
			"expected one bearer token, in the Authorization field or in the cookie");
	case EDDYI_CREDENTIALS_BEARER:
		break;
	}
	r = eddyi_auth_verify(guard->auth, text, &seen->token, &is_known);
	if (r == 0 && is_known)
		eddyi_bearer_count(EDDYI_BEARER_CACHED);
	if (r == -EAGAIN)
		return put_off(res);
	if (r > 0)
		return refuse(guard, req, res, 401, "invalid_token",
			      eddy_jwt_fault_text((enum eddy_jwt_fault)r));
	return r;
}

static eddy_filter_fn filter;

/* Shared caches take a response for its user's alone if the request had an Authorization field (RFC
 * 9111 section 3.5), but not for a cookie. */
static void keep_private(void *data, struct eddy_req *req, struct eddy_res *res)
{
	const struct eddyi_auth *auth = data;

	(void)req;
	if (!eddy_res_header(res, "cache-control").ptr)
		eddy_res_set_z(res, "cache-control", "no-store");
	else if (auth->options.cookie)
		eddy_res_merge(res, "vary", EDDY_STR("cookie"));
}

/* Check the rule for a valid token. Return: as a filter. */
static int let_in_or_forbid(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res,
			    const struct eddy_jwt *token)
{
	const struct guard *guard = eddy_next_data(next);
	char scopes[EDDY_RULE_SCOPES_SIZE];

	if (eddy_rule_check(guard->rule, token, scopes) < 0)
		return forbid(guard, req, res, scopes);
	/* Count a request once, at the innermost guard. */
	if (!eddy_next_has(next, filter))
		eddyi_bearer_count(EDDYI_BEARER_LET_IN);
	return eddy_next(next, req, res);
}

static int filter(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct guard *guard = eddy_next_data(next);
	struct seen *seen;
	const char *detail;
	int r;

	if (eddyi_oauth_metadata_is_asked(guard->auth->app, req))
		return eddy_next(next, req, res);
	/* Fields of a refused head may be missing: don't report an overlong token as missing. */
	r = eddy_req_refusal(req, &detail);
	if (r)
		return eddy_res_error(res, r, detail);
	seen = eddy_req_layer(req, &layer);
	r = seen ? eddy_res_on_head(res, keep_private, guard->auth) : -ENOMEM;
	if (r == 0 && !seen->token)
		r = authenticate(guard, req, res, seen);
	return r == 0 && seen->token ? let_in_or_forbid(next, req, res, seen->token) : r;
}

/* ---- public functions ---- */

/* List the scopes that every token must have, as far as they fit. */
static void list_scopes(const struct eddy_rule *rule, char *scopes)
{
	if (rule && rule->kind == EDDY_RULE_ALL_OF)
		for (const struct eddy_rule *const *one = rule->rules; *one; one++)
			list_scopes(*one, scopes);
	if (!rule || rule->kind != EDDY_RULE_SCOPES)
		return;
	for (const char *const *name = rule->names; *name; name++) {
		size_t len = strlen(scopes);

		if (len + 1 + strlen(*name) < EDDY_RULE_SCOPES_SIZE)
			sprintf(scopes + len, "%s%s", len ? " " : "", *name);
	}
}

static void *guard_new(struct eddy_app *app, const struct eddy_rule *rule)
{
	struct guard *guard = eddy_app_alloc(app, sizeof(*guard));
	ssize_t size = eddyi_rule_size(rule);

	guard->auth = eddyi_auth_touch(app);
	guard->auth->is_guarded = true;
	if (size < 0) {
		eddy_app_mistake(
			app, "eddy_app_authorize(): %s",
			size == -EMSGSIZE ?
				"the rule is nested deeper than 16 levels, or larger than 64 KiB" :
				"no token can satisfy the rule: it has an empty list or an invalid "
				"name");
		return guard;
	}
	guard->rule = size ? eddyi_rule_copy(rule, eddy_app_alloc(app, (size_t)size)) : NULL;
	list_scopes(guard->rule, guard->scopes);
	return guard;
}

void eddy_app_authorize(union eddy_target target, const struct eddy_rule *rule)
{
	struct guard *guard = guard_new(eddy_app_of(target), rule);

	eddy_app_add_guard(target, filter, guard,
			   &(struct eddy_guard){
				   .scheme = "bearer",
				   .definition = "{\"type\":\"http\",\"scheme\":\"bearer\","
						 "\"bearerFormat\":\"JWT\"}",
				   .scopes = guard->scopes,
			   });
}

const struct eddy_jwt *eddy_req_token(const struct eddy_req *req)
{
	const struct seen *seen = eddy_req_find_layer(req, &layer);

	return seen ? seen->token : NULL;
}

int eddyi_req_claims_read(const struct eddy_req *req, const struct eddy_member *members,
			  size_t count, void *ret_target, char *ret_why)
{
	const struct eddy_jwt *token = eddy_req_token(req);
	const json_t *claims = token ? eddy_jwt_claims(token) : NULL;

	if (!claims)
		return token ? -ENOMEM : -ENOENT;
	return eddyi_json_read(claims, members, count, ret_target, ret_why);
}
