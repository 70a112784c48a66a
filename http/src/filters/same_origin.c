#include "exchange/error.h"

#include <eddy/same_origin.h>

/* The methods that RFC 9110 section 9.2.1 calls safe. */
static bool is_safe(enum eddyi_method method)
{
	return method == EDDYI_METHOD_GET || method == EDDYI_METHOD_HEAD ||
	       method == EDDYI_METHOD_OPTIONS || method == EDDYI_METHOD_TRACE;
}

/* Whether a browser says that another site's page sends this. An Origin is scheme://host[:port], or
 * "null" of a page that has none. */
static bool comes_from_elsewhere(const struct eddy_req *req)
{
	struct eddy_str origin = eddy_req_header(req, "origin");
	struct eddy_str site = eddy_req_header(req, "sec-fetch-site");

	if (site.ptr && eddy_str_eq_z(site, "cross-site"))
		return true;
	if (!origin.ptr)
		return false;
	for (size_t at = 0; at + 3 <= origin.len; at++)
		if (memcmp(origin.ptr + at, "://", 3) == 0)
			return !eddy_str_eq_nocase(eddy_str_skip(origin, at + 3),
						   eddy_req_host(req));
	return true;
}

static int guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_same_origin_options *options = eddy_next_data(next);

	/* No browser leaves the host out. */
	if (options->local_only && eddy_req_host(req).len && !eddy_req_host_is_local_or_ip(req))
		return eddyi_render_error(req, 403, "this server answers to localhost only");
	if (!is_safe(req->head.method) && comes_from_elsewhere(req))
		return eddyi_render_error(req, 403, "another site's page may not do this");
	return eddy_next(next, req, res);
}

static void use(struct eddy_app *app, struct eddyi_filters *filters,
		const struct eddy_same_origin_options *options)
{
	struct eddy_same_origin_options *own = eddy_app_alloc(app, sizeof(*own));

	*own = options ? *options : (struct eddy_same_origin_options){ 0 };
	eddyi_app_add_filter_to(app, filters, guard, own);
}

void eddy_app_use_same_origin(struct eddy_app *app, const struct eddy_same_origin_options *options)
{
	use(app, &app->root.filters, options);
}

void eddy_group_use_same_origin(struct eddy_group *group,
				const struct eddy_same_origin_options *options)
{
	use(group->app, &group->filters, options);
}

void eddy_route_use_same_origin(struct eddy_route *route,
				const struct eddy_same_origin_options *options)
{
	use(route->app, &route->filters, options);
}
