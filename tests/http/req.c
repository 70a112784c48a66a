/* Tests of eddy/req.h. */
#include "ask.h"

static int join(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str list = eddy_req_header_joined(req, "x-list");
	struct eddy_str one = eddy_req_header_joined(req, "x-one");

	if (eddy_req_header_joined(req, "x-none").ptr)
		return 500;
	return eddy_res_ok(res, "%.*s|%.*s", EDDY_FMT(list), EDDY_FMT(one));
}

Test(req, joins_fields_of_one_name)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/", join);
	EXPECT_ANSWER(app,
		      "GET / HTTP/1.1\n" HOST "X-List: 1, 2\nX-One:  a b \nx-list:\nX-LIST: 3\n\n",
		      "200 1, 2, , 3|a b");
	eddy_app_free(app);
}
