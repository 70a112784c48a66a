/* Who may do what: the folder belongs to the people who can open the page, and to no other page. */
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

/* Whether a browser says that another site's page sends this. An Origin is scheme://host[:port]. */
static bool comes_from_elsewhere(struct eddy_req *req)
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

int files_guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct files *files = eddy_req_context(req);

	/* A name that somebody else's DNS points at this machine would make their page ours. No browser
	 * leaves the name out. */
	if (files->loopback && eddy_req_host(req).len && !eddy_req_host_is_local_or_ip(req))
		return eddy_res_problem(res, 403, "this server answers to localhost only");
	if (changes(req)) {
		if (comes_from_elsewhere(req))
			return eddy_res_problem(res, 403, "another site's page may not do this");
		if (files->no_upload)
			return eddy_res_problem(res, 403, "this folder can only be read");
	}
	return eddy_next(next, req, res);
}
