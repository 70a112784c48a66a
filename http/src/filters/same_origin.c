#include "exchange/req.h"
#include "exchange/res.h"

#include <eddy/internal/outside.h>
#include <eddy/same_origin.h>
#include <limits.h>

struct guard {
	struct eddy_same_origin_options options;
	char machine[HOST_NAME_MAX + 1]; /* host name of the machine */
};

/* Safe methods (RFC 9110 section 9.2.1). */
static bool is_safe(enum eddyi_method method)
{
	return method == EDDYI_METHOD_GET || method == EDDYI_METHOD_HEAD ||
	       method == EDDYI_METHOD_OPTIONS || method == EDDYI_METHOD_TRACE;
}

static bool is_name(struct eddy_str host, struct eddy_str name, const char *suffix)
{
	return host.len == name.len + strlen(suffix) && name.len &&
	       eddy_str_eq_nocase(eddy_str(host.ptr, name.len), name) &&
	       eddy_str_eq_nocase(eddy_str_skip(host, name.len), eddy_str_from(suffix));
}

static bool is_local_or_ip(const struct eddy_req *req)
{
	struct eddyi_host host;

	return eddyi_host_parse(eddy_req_host(req), &host) == 0 && eddyi_host_is_local_or_ip(&host);
}

/* Whether the host is the machine's name, its first label, or that label with .local (mDNS). */
static bool is_machine(const struct guard *guard, const struct eddy_req *req)
{
	struct eddy_str full = eddy_str_from(guard->machine), first = full;
	struct eddyi_host host;

	if (eddyi_host_parse(eddy_req_host(req), &host) < 0)
		return false;
	first.len = strcspn(guard->machine, ".");
	host.name.len -= host.name.len > 1 && host.name.ptr[host.name.len - 1] == '.';
	return is_name(host.name, full, "") || is_name(host.name, first, "") ||
	       is_name(host.name, first, ".local");
}

static int stand_guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct guard *guard = eddy_next_data(next);

	/* Browsers always send the host. */
	if (guard->options.local_only && eddy_req_host(req).len && !is_local_or_ip(req) &&
	    !is_machine(guard, req))
		return eddyi_render_error(
			req, 403,
			"the host must be an address or the name of this machine, or localhost");
	if (!is_safe(req->head.method) && eddyi_req_comes_from_elsewhere(req))
		return eddyi_render_error(req, 403, "cross-site requests are not allowed");
	return eddy_next(next, req, res);
}

void eddy_app_use_same_origin(union eddy_target target,
			      const struct eddy_same_origin_options *options)
{
	struct eddy_app *app = eddy_app_of(target);
	struct guard *guard = eddy_app_alloc(app, sizeof(*guard));

	*guard = (struct guard){ 0 };
	if (options)
		guard->options = *options;
	/* A Host field can't be longer. */
	if (eddyi_gethostname_now(guard->machine, HOST_NAME_MAX) < 0)
		guard->machine[0] = '\0';
	eddy_app_add_filter(target, stand_guard, guard);
}
