/* eddy/auth.h: all of eddy's bearer authentication. */
#ifndef EDDY_AUTH_H
#define EDDY_AUTH_H

#include <eddy/oauth_metadata.h>

#ifndef EDDY_NO_JWT_AUTH
#include <eddy/bearer.h>
#include <eddy/jwk.h>
#include <eddy/jwt.h>
#include <eddy/keyset.h>
#include <eddy/rule.h>
#endif
#ifndef EDDY_NO_OAUTH_CLIENT
#include <eddy/oauth.h>
#endif

EDDY_BEGIN_DECLS

/* Make the layer's sections of the app's configuration file known, [bearer], [oauth.client], [oauth.resource] and
 * [oauth.server]: they are checked, and nothing is switched on by them. */
EDDY_API void eddy_auth_config(struct eddy_app *app);

EDDY_END_DECLS

#endif
