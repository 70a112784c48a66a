/* A variable without EDDY_TO().
 * expect: eddy_req_path\(\) takes EDDY_TO\(&variable\) for each parameter
 */
#include <eddy/http.h>

int handler(struct eddy_req *req, struct eddy_res *res);

int handler(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	(void)res;
	return eddy_req_path(req, &name);
}
