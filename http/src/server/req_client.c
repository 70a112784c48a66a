/* The HTTP clients of an app for its handlers, one for each loop. */
#include "exchange/exchange_state.h"

#include <eddy/client.h>

void eddy_app_with_client(struct eddy_app *app, const struct eddy_client_options *options)
{
	struct eddy_client_options *kept = eddy_app_alloc(app, sizeof(*kept));

	*kept = options ? *options : (struct eddy_client_options){ 0 };
	kept->ca_file = eddy_app_keep_string(app, kept->ca_file);
	kept->connect = eddy_app_keep_string(app, kept->connect);
	kept->user_agent = eddy_app_keep_string(app, kept->user_agent);
	app->client_options = kept;
}

struct eddy_client *eddy_req_client(const struct eddy_req *req)
{
	struct eddyi_service *service = req->stream->service;

	if (!service->client) {
		service->client = eddy_client_new(req->app->client_options);
		service->free_client = eddy_client_free;
	}
	return service->client;
}
