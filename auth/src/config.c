#include "config.h"

#include <eddy/auth.h>

void eddy_auth_config(struct eddy_app *app)
{
	eddyi_metadata_config(app);
}
