/* traced: what `./dev bench tracing` asks.
 *
 *     traced ADDRESS DIR [header] [access] [metrics]
 *
 * GET /hello, with a number in every answer, an access log in DIR/access.log, requests that are counted.
 */
#include <eddy/http.h>
#include <eddy/trace.h>

#include <stdio.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "Hello, World!");
}

static bool has(char **words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_tracing_options options = { 0 };
	char path[4096];

	if (argc < 3)
		return 2;
	options.header = has(argv + 3, "header");
	options.access_log = has(argv + 3, "access");
	snprintf(path, sizeof(path), "%s/access.log", argv[2]);
	if (eddy_log_writer_subscribe(&(struct eddy_log_writer_options){ .path = path }) < 0)
		return 1;
	eddy_app_bind(app, argv[1]);
	eddy_app_set_tracing(app, &options);
	if (options.header || options.access_log)
		eddy_app_use_tracing(app);
	if (has(argv + 3, "metrics"))
		eddy_app_use_metrics(app);
	eddy_app_map_get(app, "/metrics", eddy_metrics);
	eddy_app_map_get(app, "/hello", hello);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
