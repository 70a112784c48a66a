/* The filter that lets in requests with a token, and tells the others why not. */
#include "auth.h"
#include "challenge.h"
#include "credentials.h"
#include "resource.h"

#include <eddy/coder.h>
#include <eddy/layer.h>
#include <eddy/peer.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

/* How long to wait where an issuer's keys could not be loaded: the next request tries at once. */
#define RETRY_AFTER "1"

struct guard {
	struct eddyi_auth *auth;
	const struct eddy_rule *rule; /* a copy; NULL: any valid token */
	const char *scopes;           /* that it asks for, with blanks between; NULL: none */
};

/* What is kept for a request: of several guards the first has looked at the token. */
struct seen {
	struct eddy_jwt *token;
};

static void seen_deinit(void *kept)
{
	struct seen *seen = kept;

	eddy_jwt_unref(seen->token);
}

static const struct eddy_req_layer layer = { "token", sizeof(struct seen), seen_deinit };

static atomic_uint_least64_t let_in, refused, forbidden, unknown, cached;

static void count(atomic_uint_least64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static uint64_t counted(const atomic_uint_least64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

struct eddy_bearer_stats eddy_bearer_stats(void)
{
	return (struct eddy_bearer_stats){
		.let_in = counted(&let_in),
		.refused = counted(&refused),
		.forbidden = counted(&forbidden),
		.unknown = counted(&unknown),
		.cached = counted(&cached),
	};
}

void eddyi_guard_count_cached(void)
{
	count(&cached);
}

/* ---- who is refused ---- */

/* Answer with a status and a challenge. Return: as a filter. */
static int challenge(const struct guard *guard, struct eddy_req *req, struct eddy_res *res,
		     int status, const char *error, const char *description, const char *scopes)
{
	const struct eddyi_challenge said = {
		.realm = guard->auth->options.realm,
		.error = error,
		.description = description,
		.scope = scopes,
		.resource_metadata = eddyi_resource_metadata_url(guard->auth->app),
	};
	int r = eddyi_challenge_set(&said, req, res);

	if (r < 0)
		return r;
	return eddy_res_problem(res, status, "%s",
				description ? description : "a bearer token is needed");
}

static int refuse(const struct guard *guard, struct eddy_req *req, struct eddy_res *res, int status,
		  const char *error, const char *description)
{
	count(&refused);
	return challenge(guard, req, res, status, error, description, guard->scopes);
}

static int forbid(const struct guard *guard, struct eddy_req *req, struct eddy_res *res)
{
	count(&forbidden);
	return challenge(guard, req, res, 403, "insufficient_scope", NULL, guard->scopes);
}

/* Its issuer is to blame, and no token. */
static int put_off(struct eddy_res *res)
{
	int r = eddy_res_set_z(res, "retry-after", RETRY_AFTER);

	count(&unknown);
	return r < 0 ? r : eddy_res_problem(res, 503, "the issuer's keys could not be loaded");
}

/* ---- who asks ---- */

/* Whether a token on its way could be read by others. */
static bool is_overheard(const struct eddyi_auth *auth, const struct eddy_req *req)
{
	return !auth->options.allow_plain_http && !eddy_req_is_secure(req) &&
	       !eddy_peer_is_local(eddy_req_peer(req));
}

/* Return: 0, and the token is kept for the request; 1: it has been answered; -errno. */
static int authenticate(const struct guard *guard, struct eddy_req *req, struct eddy_res *res,
			struct seen *seen)
{
	struct eddy_str text;
	int r;

	if (is_overheard(guard->auth, req))
		return refuse(guard, req, res, 400, "invalid_request", "HTTPS required");
	switch (eddyi_credentials_read(req, &text)) {
	case EDDYI_CREDENTIALS_NONE:
		return refuse(guard, req, res, 401, NULL, NULL);
	case EDDYI_CREDENTIALS_INVALID:
		return refuse(guard, req, res, 400, "invalid_request",
			      "one Authorization field with one bearer token is expected");
	case EDDYI_CREDENTIALS_BEARER:
		break;
	}
	r = eddyi_auth_verify(guard->auth, text, &seen->token);
	if (r == -EAGAIN)
		return put_off(res);
	if (r > 0)
		return refuse(guard, req, res, 401, "invalid_token",
			      eddy_jwt_fault_text((enum eddy_jwt_fault)r));
	return r;
}

static void keep_private(void *data, struct eddy_req *req, struct eddy_res *res)
{
	(void)data;
	(void)req;
	if (!eddy_res_header(res, "cache-control").ptr)
		eddy_res_set_z(res, "cache-control", "no-store");
}

static int filter(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct guard *guard = eddy_next_data(next);
	struct seen *seen = eddy_req_layer(req, &layer);
	int r = seen ? eddy_res_on_head(res, keep_private, NULL) : -ENOMEM;

	if (r < 0)
		return r;
	if (!seen->token) {
		r = authenticate(guard, req, res, seen);
		if (!seen->token)
			return r;
	}
	if (!eddy_rule_lets_in(guard->rule, seen->token))
		return forbid(guard, req, res);
	/* Of several guards the innermost lets in. */
	if (!eddy_next_has(next, filter))
		count(&let_in);
	return eddy_next(next, req, res);
}

/* ---- for programs ---- */

static const struct guard *guard_new(struct eddy_app *app, const struct eddy_rule *rule)
{
	struct guard *guard = eddy_app_alloc(app, sizeof(*guard));

	guard->auth = eddyi_auth_of(app);
	guard->auth->is_guarded = true;
	guard->rule = eddyi_rule_copy(app, rule);
	guard->scopes = eddyi_rule_scopes(app, rule);
	return guard;
}

void eddy_app_authorize(struct eddy_app *app, const struct eddy_rule *rule)
{
	eddy_app_add_filter_with(app, filter, (void *)guard_new(app, rule));
}

void eddy_group_authorize(struct eddy_group *group, const struct eddy_rule *rule)
{
	eddy_group_add_filter_with(group, filter, (void *)guard_new(eddy_group_app(group), rule));
}

void eddy_route_authorize(struct eddy_route *route, const struct eddy_rule *rule)
{
	eddy_route_add_filter_with(route, filter, (void *)guard_new(eddy_route_app(route), rule));
}

const struct eddy_jwt *eddy_req_token(const struct eddy_req *req)
{
	const struct seen *seen = eddy_req_find_layer(req, &layer);

	return seen ? seen->token : NULL;
}

int eddy_req_claims_read(const struct eddy_req *req, const struct eddy_member *members,
			 size_t count, void *ret_target, char *ret_why)
{
	const struct eddy_jwt *token = eddy_req_token(req);

	return token ? eddy_json_read(eddy_jwt_claims(token), members, count, ret_target, ret_why) :
		       -ENOENT;
}
