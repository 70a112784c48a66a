/* hello: what `./dev bench hello` asks, at the address that is given.
 *
 *     $ hello localhost:7878 &
 *     $ curl localhost:7878/hello
 *     Hello, World!
 */
#include <eddy/http.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "Hello, World!");
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	if (argc > 1)
		eddy_app_bind(app, argv[1]);
	eddy_app_map_get(app, "/hello", hello);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
