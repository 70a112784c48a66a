/* The layer's sections of the configuration file. */
#include "issuer/oauth_metadata.h"

#include <eddy/auth.h>

#ifndef EDDY_NO_JWT_AUTH
#include "auth.h"
#endif
#ifndef EDDY_NO_OAUTH_CLIENT
#include "oauth.h"
#endif

void eddy_auth_config(struct eddy_app *app)
{
	eddyi_oauth_metadata_config(app);
#ifndef EDDY_NO_JWT_AUTH
	eddyi_auth_of(app);
#endif
#ifndef EDDY_NO_OAUTH_CLIENT
	eddyi_oauth_of(app);
#endif
}
