/* eddy/oauth_metadata.h: documents by which clients find out whose tokens a service takes, and where an issuer
 * hands them out.
 *
 *     eddy_app_with_oauth_resource_metadata(
 *             app, &(struct eddy_oauth_resource){
 *                          .resource = "https://api.example",
 *                          .authorization_servers = EDDY_LIST("https://issuer.example"),
 *                  });
 *     eddy_app_use_oauth_resource_metadata(app);
 *
 * Each is a GET of JSON at its well-known path, and where the identifier has a path of its own, at the one with
 * that path as well: inserted behind it (RFC 9728 section 3, RFC 8414 section 3), of OpenID Connect in front. A
 * resource that is described is named in every challenge of eddy/bearer.h, whether its document is served or not.
 */
#ifndef EDDY_OAUTH_METADATA_H
#define EDDY_OAUTH_METADATA_H

#include <eddy/app.h>
#include <eddy/jwt.h>

EDDY_BEGIN_DECLS

/* A member of the document that has no field below. */
struct eddy_oauth_field {
	const char *name; /* NULL ends them */
	const char *json; /* its value as JSON, such as "[\"public\"]" */
};

/* A protected resource (RFC 9728 section 2). Members are left out where a field is NULL, and where a list has
 * nothing in it, except bearer_methods: that says "in no way". Lists are EDDY_LIST()s. */
struct eddy_oauth_resource {
	const char *resource; /* its identifier: an absolute URL without a fragment; mandatory */
	const char *const *authorization_servers; /* issuers of its tokens: URLs */
	const char *const *scopes;                /* scopes_supported */
	const char *const *bearer_methods; /* bearer_methods_supported: "header", "body", "query" */
	const char *name;                  /* resource_name, for people */
	const char *documentation;         /* resource_documentation: a URL */
	const struct eddy_oauth_field *more; /* one without a name ends them */
};

/* An authorization server (RFC 8414 section 2). Members are left out as above: one without an authorization
 * endpoint has no response types, EDDY_LIST(NULL). */
struct eddy_oauth_server {
	const char
		*issuer; /* its identifier: an absolute URL without query and fragment; mandatory */
	const char *authorization_endpoint; /* a URL, like the next two */
	const char *token_endpoint;
	const char *jwks_uri;              /* where its key set is */
	const char *const *scopes;         /* scopes_supported */
	const char *const *response_types; /* response_types_supported; default "code" */
	const char *const *grant_types;    /* grant_types_supported; default "authorization_code" */
	const struct eddy_oauth_field *more;
};

/* Describe the document; all of it is copied. The sections [oauth.resource] and [oauth.server] of the app's
 * configuration file have the document's own member names, and win, one by one; what has no field here is added
 * as it is there. The set form is an identifier and the defaults. */
EDDY_API void eddy_app_with_oauth_resource_metadata(struct eddy_app *app,
						    const struct eddy_oauth_resource *resource);
EDDY_API void eddy_app_set_oauth_resource_metadata(struct eddy_app *app, const char *resource);
EDDY_API void eddy_app_with_oauth_server_metadata(struct eddy_app *app,
						  const struct eddy_oauth_server *server);
EDDY_API void eddy_app_set_oauth_server_metadata(struct eddy_app *app, const char *issuer);

/* Serve them: at /.well-known/oauth-protected-resource, at /.well-known/oauth-authorization-server, and the same
 * server's at /.well-known/openid-configuration. Each is made when the app starts, may be kept by others for
 * an hour, and may be read by pages of any origin (CORS). */
EDDY_API void eddy_app_use_oauth_resource_metadata(struct eddy_app *app);
EDDY_API void eddy_app_use_oauth_server_metadata(struct eddy_app *app);
EDDY_API void eddy_app_use_oidc_metadata(struct eddy_app *app);

EDDY_END_DECLS

#endif
