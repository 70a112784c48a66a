/* A variable of a type that no text is parsed into.
 * expect: EDDY_TO\(&variable\) takes an integer, double, bool, struct eddy_time or struct eddy_str; text is a struct eddy_str
 */
#include <eddy/http.h>

int handler(struct eddy_req *req, struct eddy_res *res);

int handler(struct eddy_req *req, struct eddy_res *res)
{
	char *name;

	(void)res;
	return eddy_req_path(req, EDDY_TO(&name));
}
