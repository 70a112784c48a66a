/* hello: what `./dev bench hello` asks, at the address that is given.
 *
 *     $ hello localhost:7878 &
 *     $ curl localhost:7878/hello
 *     Hello, World!
 *
 *     hello ADDRESS ROUTES      so many others beside it, /group{g}/part{p}/{id}, for `./dev bench routes`
 *     hello ADDRESS ROUTES CERT KEY     over TLS, for `./dev bench h2`
 */
#include <eddy/http.h>

#include <stdio.h>
#include <stdlib.h>

/* Parts of a group. */
#define PARTS 100

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "Hello, World!");
}

static void map_others(struct eddy_app *app, int count)
{
	char path[64];

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/group%d/part%d/{id}", i / PARTS, i % PARTS);
		eddy_app_map_get(app, path, hello);
	}
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	if (argc > 1)
		eddy_app_bind(app, argv[1]);
	eddy_app_map_get(app, "/hello", hello);
	if (argc > 2)
		map_others(app, atoi(argv[2]));
#ifndef EDDY_NO_TLS
	if (argc > 4)
		eddy_app_use_tls(app,
				 &(struct eddy_tls_options){ .cert = argv[3], .key = argv[4] });
#endif
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
