#include "answer.h"

#include "error.h"
#include "next.h"

#include <eddy/internal/debug.h>
#include <eddy/log.h>
#include <errno.h>

/* Whether the body has a content coding, which handlers would not decode. Codings may be listed in
 * several fields (RFC 9110 section 8.4). */
static bool has_coded_body(const struct eddy_req *req)
{
	const struct eddyi_head *head = &req->head;

	if (!eddy_req_length(req) || req->decoded)
		return false;
	for (unsigned i = 0; i < head->header_count; i++) {
		struct eddyi_header header = head->headers[i];

		if (eddy_str_eq_nocase(header.name, EDDY_STR("content-encoding")) &&
		    header.value.len && !eddy_str_eq_nocase(header.value, EDDY_STR("identity")))
			return true;
	}
	return false;
}

/* Run the route's handler, else the app's fallback. */
static int handle_mapped(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_route *route = req->route ? req->route->value : NULL;
	int r;

	if (!has_coded_body(req))
		return (route ? route->handler : req->app->fallback)(req, res);
	r = eddy_res_set_z(res, "accept-encoding", "identity");
	return r ? r : eddyi_render_error(req, 415, "the body must not have a content-encoding");
}

/* Respond with 405, or to an OPTIONS request without a route. */
static int handle_other_method(struct eddy_req *req, struct eddy_res *res)
{
	char allow[EDDYI_METHOD_SET_SIZE];
	int r = eddy_res_set(res, "allow", eddyi_method_format_set(req->methods, allow));

	if (r < 0)
		return r;
	return req->head.method == EDDYI_METHOD_OPTIONS ? 204 : 405;
}

static int handle_bad_path(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	return eddyi_req_fail(req, -EINVAL, 400,
			      "the path has a percent escape that is malformed or not allowed");
}

static int handle_nothing(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return 404;
}

static int handle_refused(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	eddy_debug("eddy::http", "a request is rejected with %d: %s", req->refused,
		   req->head.problem ? req->head.problem : "malformed");
	return eddyi_render_error(req, req->refused, req->head.problem);
}

static int handle_no_memory(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return 503;
}

/* Copy the match: on the stack it has room for many more parameters than most routes have. */
static bool keep_match(struct eddy_req *req, const struct eddyi_router_match *match)
{
	size_t size = match->route->param_count * sizeof(*req->params);
	const struct eddy_route *route = match->route->value;

	req->route = match->route;
	req->filters = &route->owner.filters;
	if (!size)
		return true;
	req->params = eddyi_arena_alloc(&req->arena, size);
	if (!req->params)
		return false;
	memcpy(req->params, match->params, size);
	return true;
}

static eddy_handler_fn *find_handler(struct eddy_req *req)
{
	const struct eddy_app *app = req->app;
	const struct eddy_group *beneath;
	struct eddyi_router_match match;
	int r;

	if (req->refused)
		return handle_refused;
	if (req->head.target.form == EDDYI_TARGET_ASTERISK ||
	    req->head.target.form == EDDYI_TARGET_AUTHORITY) {
		req->methods = eddyi_router_methods(app->router) |
			       EDDYI_METHOD_BIT(EDDYI_METHOD_OPTIONS);
		return handle_other_method;
	}
	r = eddyi_path_split(&req->arena, req->head.target.path, &req->path);
	if (r < 0)
		return r == -ENOMEM ? handle_no_memory : handle_bad_path;
	eddyi_router_find(app->router, req->head.method, &req->path, &match);
	if (match.route)
		return keep_match(req, &match) ? handle_mapped : handle_no_memory;
	/* The app's own filters run in any case. */
	beneath = match.beneath;
	req->filters = &beneath->owner.filters;
	req->methods = match.methods;
	if (match.methods) {
		req->methods |= EDDYI_METHOD_BIT(EDDYI_METHOD_OPTIONS);
		return handle_other_method;
	}
	return app->fallback ? handle_mapped : handle_nothing;
}

const char *eddyi_answer_label(const struct eddy_req *req)
{
	const struct eddy_route *route = req->route ? req->route->value : NULL;

	return route ? route->label : "a request without a route";
}

int eddyi_answer(struct eddy_req *req)
{
	eddy_handler_fn *handler;

	req->filters = &req->app->root.owner.filters;
	handler = find_handler(req);
	/* Until the task's next request, or its end. */
	eddyi_task_set_label(eddyi_answer_label(req));
	return eddyi_filters_run(req->filters, handler, req, &req->res);
}
