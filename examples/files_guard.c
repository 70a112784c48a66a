/* Access control: safe media types, read-only folders. */
#include "files.h"

int files_harden(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	eddy_res_set_z(res, "x-content-type-options", "nosniff");
	/* A page elsewhere can't embed files, with the login that the browser keeps for this
	 * server. */
	eddy_res_set_z(res, "cross-origin-resource-policy", "same-origin");
	return eddy_next(next, req, res);
}

/* Methods that are not safe, also unknown ones (RFC 9110 section 9.2.1). */
static bool changes(struct eddy_req *req)
{
	struct eddy_str method = eddy_req_method(req);

	return !eddy_str_eq_z(method, "GET") && !eddy_str_eq_z(method, "HEAD") &&
	       !eddy_str_eq_z(method, "OPTIONS") && !eddy_str_eq_z(method, "TRACE");
}

int files_guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct files *files = eddy_req_context(req);

	if (files->no_upload && changes(req))
		return eddy_res_problem(res, 403, "this folder is read-only");
	return eddy_next(next, req, res);
}
