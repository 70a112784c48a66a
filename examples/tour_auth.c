/* tour: routes that require a token, and the metadata documents that name its issuer. */
#include "tour.h"
#include "tour_settings.h"

#include <eddy/auth.h>
#include <stdio.h>

void tour_publish_resource(struct eddy_app *app, const char *resource, const char *issuer)
{
	eddy_app_with_oauth_resource_metadata(app,
					      &(struct eddy_oauth_resource){
						      .resource = resource,
						      .authorization_servers = EDDY_LIST(issuer),
						      .scopes = EDDY_LIST("read", "write"),
						      .bearer_methods = EDDY_LIST("header"),
					      });
	eddy_app_use_oauth_resource_metadata(app);
}

#define URL_SIZE 2048

static const char *beneath(const char *issuer, const char *name, char url[URL_SIZE])
{
	size_t len = strlen(issuer);

	len -= len && issuer[len - 1] == '/';
	snprintf(url, URL_SIZE, "%.*s/%s", (int)len, issuer, name);
	return url;
}

/* The endpoints of examples/issuer.c, and an authorization endpoint. */
void tour_publish_server(struct eddy_app *app, const char *issuer)
{
	/* OpenID Connect Discovery requires these two as well. */
	static const struct eddy_oauth_field of_openid[] = {
		{ "subject_types_supported", "[\"public\"]" },
		{ "id_token_signing_alg_values_supported", "[\"RS256\"]" },
		{ NULL, NULL },
	};
	char authorize[URL_SIZE], token[URL_SIZE], keys[URL_SIZE];

	eddy_app_with_oauth_server_metadata(
		app, &(struct eddy_oauth_server){
			     .issuer = issuer,
			     .authorization_endpoint = beneath(issuer, "authorize", authorize),
			     .token_endpoint = beneath(issuer, "token", token),
			     .jwks_uri = beneath(issuer, "jwks", keys),
			     .more = of_openid,
		     });
	eddy_app_use_oauth_server_metadata(app);
	eddy_app_use_oidc_metadata(app);
}

void tour_check_tokens(struct eddy_app *app, const struct tour_settings *settings)
{
	const char *const audiences[] = { settings->audience, NULL };

	eddy_app_with_bearer_auth(app, &(struct eddy_bearer_options){
					       .audiences = settings->audience ? audiences : NULL,
					       .secret_file = settings->secret_file,
				       });
	if (!settings->oauth.issuer)
		return;
	eddy_app_with_oauth(app, &settings->oauth);
	eddy_app_use_oauth(app);
}

static int me(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_json(res, json_deep_copy(eddy_jwt_claims(eddy_req_token(req))));
}

struct caller {
	struct eddy_str sub;
};

static const struct eddy_member caller_members[] = {
	EDDY_MEMBER(struct caller, sub, .otherwise = "somebody"),
};

static int admin(struct eddy_req *req, struct eddy_res *res)
{
	struct caller caller;

	if (eddy_req_claims_into(req, caller_members, &caller, NULL) < 0)
		return 400;
	eddy_info("tour", "\"%.*s\" came as an admin", EDDY_FMT(caller.sub));
	return eddy_res_ok(res, "admin");
}

static int editors(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "editors");
}

static int read_it(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "read");
}

void tour_map_protected(struct eddy_app *app)
{
	eddy_app_authorize(eddy_app_map_get(app, "/me", me), NULL);
	eddy_app_authorize(eddy_app_map_get(app, "/admin", admin), eddy_roles("admin"));
	eddy_app_authorize(eddy_app_map_get(app, "/editors", editors),
			   eddy_roles("admin", "editor"));
	eddy_app_authorize(eddy_app_map_get(app, "/read", read_it), eddy_scopes("read"));
}
