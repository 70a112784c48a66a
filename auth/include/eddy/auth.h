/* eddy/auth.h: all of eddy's bearer authentication. */
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

/* Make the layer's sections of the app's configuration file known, [bearer], [oauth.client], [oauth.resource] and
 * [oauth.server]: they are checked, and nothing is switched on by them. */
EDDY_API void eddy_auth_config(struct eddy_app *app);

EDDY_END_DECLS

#endif
