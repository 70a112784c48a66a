#include <eddy/health.h>

#include "exchange/exchange_state.h"

int eddy_health(struct eddy_req *req, struct eddy_res *res)
{
	int r;

	if (eddy_app_is_draining(req->app))
		r = eddy_res_problem(res, 503, "the server is shutting down");
	else
		r = eddy_res_ok(res, "ok\n");
	return r < 0 ? r : eddy_res_set_z(res, "cache-control", "no-store");
}
