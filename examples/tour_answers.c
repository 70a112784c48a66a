/* Statuses, header fields, and methods without a response body. */
#include "tour.h"

/* GET /headers */
static int headers(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_set_z(res, "x-api-key", "123");
	eddy_res_set_z(res, "x-request-method", "GET");
	return eddy_res_ok(res, "ok");
}

/* GET /status/{code}: a handler's return value is the status of the response. */
static int status(struct eddy_req *req, struct eddy_res *res)
{
	uint16_t code;

	if (eddy_req_path(req, EDDY_TO(&code)) < 0)
		return 400;
	if (code < 200 || code > 599)
		return eddy_res_problem(res, 400, "code must be a number from 200 to 599");
	return code;
}

/* GET /errno/{n}: a returned -errno becomes the status that it stands for. */
static int fail(struct eddy_req *req, struct eddy_res *res)
{
	uint16_t number;

	if (eddy_req_path(req, EDDY_TO(&number)) < 0)
		return 400;
	if (number > 4095)
		return eddy_res_problem(res, 400, "n must be an errno from 0 to 4095");
	return -number;
}

/* HEAD /health */
static int health(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_set_z(res, "x-health", "ok");
}

/* OPTIONS /options */
static int options(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_set_z(res, "allow", "GET, HEAD, OPTIONS");
}

void tour_map_answers(struct eddy_app *app)
{
	eddy_app_map_get(app, "/headers", headers);
	eddy_app_map_get(app, "/status/{code}", status);
	eddy_app_map_get(app, "/errno/{n}", fail);
	eddy_app_map_head(app, "/health", health);
	eddy_app_map_options(app, "/options", options);
}
