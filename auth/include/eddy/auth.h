/* eddy/auth.h: all headers of eddy's token authentication (JWT, OAuth 2.1, OpenID Connect). */
#ifndef EDDY_AUTH_H
#define EDDY_AUTH_H

#include <eddy/bearer.h>
#include <eddy/jwk.h>
#include <eddy/jwt.h>
#include <eddy/keyset.h>
#include <eddy/oauth.h>
#include <eddy/oauth_metadata.h>
#include <eddy/rule.h>

EDDY_BEGIN_DECLS

/* Register the sections [bearer], [oauth.client], [oauth.resource] and [oauth.server] of the app's
 * configuration file. They are validated; nothing is enabled. */
EDDY_API void eddy_auth_config(struct eddy_app *app);

EDDY_END_DECLS

#endif
