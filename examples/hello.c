/* hello: the smallest server; the README shows it.
 *
 *     $ hello &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl localhost:7878/hello/world
 *     Hello, world!
 */
#include <eddy/http.h>

/* GET /hello/{name} */
static int hello(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_ok(res, "Hello, %.*s!", EDDY_FMT(name));
}

int main(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_map_get(app, "/hello/{name}", hello);
	return eddy_app_run_blocking(app);
}
