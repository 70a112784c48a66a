#include "error.h"

#include "message/status.h"
#include "res.h"

#include <eddy/layer.h>
#include <eddy/log.h>
#include <eddy/observer.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Map a handler's error to a status. */
static int judge_error(struct eddy_req *req, int error)
{
	int status = eddyi_status_of(error);

	if (error == req->verdict_error)
		return req->verdict_status;
	if (error == -ECANCELED && req->client_left)
		return EDDYI_STATUS_CLIENT_LEFT;
	if (error == -ECANCELED && req->stopped)
		return 503;
	/* Only for the body: a handler may return -ECONNRESET of another server. */
	if (error == -ECONNRESET && req->body->error == error) {
		eddyi_req_fail(req, error, 400, "the request body ended too early");
		return 400;
	}
	/* Don't log a timeout or shutdown as a failure. */
	if (status == 500 && error != -ECANCELED)
		eddy_log(EDDY_LOG_ERROR, "eddy::http",
			 EDDY_FIELDS(eddy_field_str("route", eddy_req_pattern(req))),
			 "%.*s %.*s failed: %s%s", EDDY_FMT(req->head.method_name),
			 EDDY_FMT(req->head.target.path), strerror(-error),
			 error == -1 ? " (-1 is -EPERM: return -errno or a status)" : "");
	return status;
}

/* Tell whether the client or the server's shutdown is the cause of an incomplete stream, and not the
 * program. */
static bool is_cut_from_outside(const struct eddy_req *req, int r)
{
	int failed = req->res.failed;

	return (failed && failed != -ENOMEM) || r == -ECANCELED || req->expired ||
	       req->client_left || eddy_is_cancelled() ||
	       (r < 0 && (r == req->body->error || r == req->verdict_error));
}

static void tell_cut(const struct eddy_req *req, int r)
{
	char status[32];

	snprintf(status, sizeof(status), "status %d", r);
	eddy_log(is_cut_from_outside(req, r) ? EDDY_LOG_DEBUG : EDDY_LOG_ERROR, "eddy::http",
		 EDDY_FIELDS(eddy_field_str("route", eddy_req_pattern(req))),
		 "%.*s %.*s failed after its head was sent, so its body is cut short: %s",
		 EDDY_FMT(req->head.method_name), EDDY_FMT(req->head.target.path),
		 r < 0 ? strerror(-r) : status);
}

/* Finish after the head has been sent. On an error, the client must not take the response for
 * complete. A response without a body is complete with its head, whatever the handler returned. */
static int finish_sent(struct eddy_req *req, int r)
{
	struct eddy_res *res = &req->res;

	if (r == 0 || (r >= 200 && r < 400))
		r = res->failed;
	if (r == 0 || eddyi_res_is_silent(res))
		return res->failed;
	if (!res->is_cut)
		tell_cut(req, r);
	res->is_cut = true;
	if (r > 0)
		r = -EIO;
	if (!res->failed)
		res->failed = r;
	return r;
}

int eddyi_render_error(struct eddy_req *req, int status, const char *detail)
{
	struct eddy_res *res = &req->res;
	int r;

	if (res->head_sent)
		return finish_sent(req, status);
	eddyi_res_clear_body(res);
	res->status = status;
	if (!req->app->render_error)
		return eddyi_problem(res, status, detail);
	r = req->app->render_error(req, res, status, detail);
	if (r == 0 || res->head_sent)
		return finish_sent(req, r);
	return eddyi_problem(res, status, detail);
}

int eddyi_finish_other(struct eddy_req *req, int r)
{
	struct eddy_res *res = &req->res;
	int status;

	if (res->head_sent)
		return finish_sent(req, r);
	/* A stream that failed before its head. */
	if (r == 0)
		r = res->failed;
	res->failed = 0;
	status = r < 0 ? judge_error(req, r) : r;
	/* The program's mistake is not the client's. */
	if (req->verdict_error == -EDOM && status >= 400 && status < 500)
		status = 500;
	if (r > 0) {
		eddy_res_status(res, status);
		status = res->status;
		if (status < 400)
			return 0;
	}
	return eddyi_render_error(req, status, status == req->verdict_status ? req->detail : NULL);
}

int eddy_res_error(struct eddy_res *res, int status, const char *detail)
{
	return eddyi_render_error(res->req, status, detail);
}

int eddy_res_problem(struct eddy_res *res, int status, const char *detail, ...)
{
	char *text = NULL;
	va_list args;
	int r;

	if (res->head_sent)
		return finish_sent(res->req, status);
	if (detail) {
		va_start(args, detail);
		r = vasprintf(&text, detail, args);
		va_end(args);
		if (r < 0)
			return -ENOMEM;
	}
	eddy_res_status(res, status);
	r = eddyi_problem(res, res->status, text);
	free(text);
	return r;
}
