/* timed: middleware: a filter that measures each request, and one that checks an API key.
 *
 *     $ timed localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/api/work -H 'x-api-key: letmein' -o answer -w '%header{server-timing}\n'
 *     app;dur=…
 *     $ curl -s localhost:7878/api/work
 *     {"type":"about:blank","title":"Unauthorized","status":401,"detail":"x-api-key is missing, or not known"}
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <stdio.h>

/* Runs for all requests, including a 404 and those that the other filter rejects. */
static int measure(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	uint64_t began_ns = eddy_now();
	int r = eddy_next(next, req, res);
	char text[40];

	snprintf(text, sizeof(text), "app;dur=%.3f", (double)(eddy_now() - began_ns) / EDDY_MS);
	eddy_res_set_z(res, "server-timing", text);
	return r;
}

/* For a group of routes. The filter's data is the key. */
static int only_with_key(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const char *key = eddy_next_data(next);

	if (!eddy_str_eq_z(eddy_req_header(req, "x-api-key"), key))
		return eddy_res_problem(res, 401, "x-api-key is missing, or not known");
	return eddy_next(next, req, res);
}

static int work(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_sleep(5 * EDDY_MS);

	return r < 0 ? r : eddy_res_ok(res, "done\n");
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *api = eddy_app_group(app, "/api");

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_add_filter(app, measure, NULL);
	eddy_app_add_filter(api, only_with_key, "letmein");
	eddy_app_map_get(api, "/work", work);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
