#include "error.h"

#include "message/status.h"
#include "reply_head.h"
#include "res.h"

#include <eddy/layer.h>
#include <eddy/log.h>
#include <eddy/observer.h>
#include <errno.h>

/* Map a handler's error to a status. */
static int judge_error(struct eddy_req *req, int error)
{
	int status = eddyi_status_of(error);

	if (error == req->verdict_error)
		return req->verdict_status;
	if (error == -ECANCELED && req->client_left)
		return EDDYI_STATUS_CLIENT_LEFT;
	/* Only for the body: a handler may return -ECONNRESET of another server. */
	if (error == -ECONNRESET && req->body.error == error) {
		eddyi_req_fail(req, error, 400, "the request body ended too early");
		return 400;
	}
	/* Don't log a timeout or shutdown as a failure. */
	if (status == 500 && error != -ECANCELED)
		eddy_log(EDDY_LOG_ERROR, "eddy::http",
			 EDDY_FIELDS(eddy_field_str("route", eddy_req_pattern(req))),
			 "%.*s %.*s failed: %s", EDDY_FMT(req->head.method_name),
			 EDDY_FMT(req->head.target.path), strerror(-error));
	return status;
}

/* A response without a body is complete with its head, whatever the handler returned. */
static int finish_sent(const struct eddy_req *req, int r)
{
	return r < 0 && eddyi_reply_has_body(req) ? r : req->res.failed;
}

int eddyi_render_error(struct eddy_req *req, int status, const char *detail)
{
	struct eddy_res *res = &req->res;
	int r;

	eddyi_res_clear_body(res);
	res->status = status;
	if (!req->app->render_error)
		return eddyi_problem(res, status, detail);
	r = req->app->render_error(req, res, status, detail);
	if (r == 0 || res->head_sent)
		return finish_sent(req, r);
	return eddyi_problem(res, status, detail);
}

int eddyi_finish(struct eddy_req *req, int r)
{
	struct eddy_res *res = &req->res;

	if (r == 0)
		return res->failed;
	if (res->head_sent)
		return finish_sent(req, r);
	if (r > 0) {
		eddy_res_status(res, r);
		r = res->status;
		if (r < 400)
			return 0;
	}
	if (r < 0)
		r = judge_error(req, r);
	return eddyi_render_error(req, r, r == req->verdict_status ? req->detail : NULL);
}

int eddy_res_error(struct eddy_res *res, int status, const char *detail)
{
	return eddyi_render_error(res->req, status, detail);
}
