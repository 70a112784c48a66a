/* tour: the documents by which clients find out whose tokens are taken. */
#include "tour.h"

#include <eddy/auth.h>

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

void tour_publish_server(struct eddy_app *app, const char *issuer)
{
	eddy_app_set_oauth_server_metadata(app, issuer);
	eddy_app_use_oauth_server_metadata(app);
	eddy_app_use_oidc_metadata(app);
}
