#include "handlers.h"

int pump(struct eddy_req *req, struct eddy_res *res)
{
	char buf[4096];
	ssize_t r;

	while ((r = eddy_req_read(req, buf, sizeof(buf))) > 0) {
		r = eddy_res_write(res, buf, (size_t)r);
		if (r < 0)
			break;
	}
	return r < 0 ? (int)r : eddy_res_write(res, "", 0);
}

int refuse(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_problem(res, 409, "not wanted");
}
