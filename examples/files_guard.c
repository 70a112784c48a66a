/* Access control: public file names, safe media types, read-only folders. */
#include "files.h"

#include <eddy/upload.h>

bool files_name_is_public(struct eddy_str name)
{
	return name.len && name.ptr[0] != '.' && !memchr(name.ptr, '/', name.len);
}

int files_harden(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	eddy_res_set_z(res, "x-content-type-options", "nosniff");
	return eddy_next(next, req, res);
}

static bool changes(struct eddy_req *req)
{
	struct eddy_str method = eddy_req_method(req);

	return eddy_str_eq_z(method, "PUT") || eddy_str_eq_z(method, "POST") ||
	       eddy_str_eq_z(method, "DELETE");
}

int files_guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct files *files = eddy_req_context(req);

	if (files->no_upload && changes(req))
		return eddy_res_problem(res, 403, "this folder is read-only");
	return eddy_next(next, req, res);
}
