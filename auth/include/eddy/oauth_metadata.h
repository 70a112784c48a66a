/* eddy/oauth_metadata.h: metadata documents of a protected resource (RFC 9728) and of an
 * authorization server (RFC 8414, OpenID Connect Discovery).
 *
 *     eddy_app_with_oauth_resource_metadata(
 *             app, &(struct eddy_oauth_resource){
 *                          .resource = "https://api.example",
 *                          .authorization_servers = EDDY_LIST("https://issuer.example"),
 *                  });
 *     eddy_app_use_oauth_resource_metadata(app);
 *
 * Each is JSON, served by GET at its well-known path. If the identifier has a path, it is also
 * served with that path appended (RFC 9728 section 3, RFC 8414 section 3), or for OpenID Connect
 * prepended. Challenges of eddy/bearer.h name a described resource, even if it is not served.
 */
#ifndef EDDY_OAUTH_METADATA_H
#define EDDY_OAUTH_METADATA_H

#include <eddy/app.h>
#include <eddy/jwt.h>

EDDY_BEGIN_DECLS

/* A member of a document that has no field below. */
struct eddy_oauth_field {
	const char *name; /* NULL ends a list */
	const char *json; /* its value as JSON, such as "[\"public\"]" */
};

/* A protected resource (RFC 9728 section 2). NULL fields and empty lists are left out of the
 * document, except an empty .bearer_methods: no method is supported. Lists are EDDY_LIST()s. */
struct eddy_oauth_resource {
	const char *resource; /* its identifier: an absolute URL without a fragment; mandatory */
	const char *const *authorization_servers; /* issuers of its tokens: URLs */
	const char *const *scopes;                /* scopes_supported */
	const char *const *bearer_methods; /* bearer_methods_supported: "header", "body", "query" */
	const char *name;                  /* resource_name, for people */
	const char *documentation;         /* resource_documentation: a URL */
	const struct eddy_oauth_field *more; /* ends with one without a name */
};

/* An authorization server (RFC 8414 section 2). NULL fields and empty lists are left out. Without
 * an authorization endpoint, .response_types must be empty: EDDY_LIST(NULL). */
struct eddy_oauth_server {
	const char *issuer; /* its identifier: an absolute URL, no query or fragment; mandatory */
	const char *authorization_endpoint; /* a URL, like the next two */
	const char *token_endpoint;
	const char *jwks_uri;              /* where its key set is */
	const char *const *scopes;         /* scopes_supported */
	const char *const *response_types; /* response_types_supported; default "code" */
	const char *const *grant_types;    /* grant_types_supported; default "authorization_code" */
	const struct eddy_oauth_field *more;
};

/* Set the contents of a metadata document; everything is copied. The sections [oauth.resource] and
 * [oauth.server] of the app's configuration file use the document's member names, and take
 * precedence member by member; unknown members are added as they are. The set form takes an
 * identifier. */
EDDY_API void eddy_app_with_oauth_resource_metadata(struct eddy_app *app,
						    const struct eddy_oauth_resource *resource);
EDDY_API void eddy_app_set_oauth_resource_metadata(struct eddy_app *app, const char *resource);
EDDY_API void eddy_app_with_oauth_server_metadata(struct eddy_app *app,
						  const struct eddy_oauth_server *server);
EDDY_API void eddy_app_set_oauth_server_metadata(struct eddy_app *app, const char *issuer);

/* Serve a metadata document: at /.well-known/oauth-protected-resource, at
 * /.well-known/oauth-authorization-server, and the same server's at
 * /.well-known/openid-configuration. It is made when the app starts, may be cached for an hour, and
 * may be read by pages of any origin (CORS). */
EDDY_API void eddy_app_use_oauth_resource_metadata(struct eddy_app *app);
EDDY_API void eddy_app_use_oauth_server_metadata(struct eddy_app *app);
EDDY_API void eddy_app_use_oidc_metadata(struct eddy_app *app);

EDDY_END_DECLS

#endif
