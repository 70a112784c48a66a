#include "config.h"
#include "oauth.h"

#include <eddy/auth.h>

void eddy_auth_config(struct eddy_app *app)
{
	eddyi_metadata_config(app);
	eddyi_oauth_of(app);
}
