/* routes: an app of groups, filters and everything that reads parameters, for the tests.
 *
 *     routes [--plain-errors]
 *
 * It listens at a free port of 127.0.0.1.
 */
#include <eddy/http.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <string.h>

/* ---- groups and filters ---- */

static int ok(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "ok");
}

/* Say in a field who was passed, the innermost first. */
static int mark(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_next(next, req, res);

	eddy_res_add(res, "x-passed", eddy_str_from(eddy_next_data(next)));
	return r;
}

static int lock(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	if (eddy_str_eq_z(eddy_req_header(req, "x-key"), eddy_next_data(next)))
		return eddy_next(next, req, res);
	eddy_res_set_z(res, "www-authenticate", "Key");
	return 401;
}

static void map_groups(struct eddy_app *app)
{
	struct eddy_group *api = eddy_app_group(app, "/api");
	struct eddy_group *secret = eddy_group_group(api, "/secret");

	eddy_app_add_filter_with(app, mark, "app");
	eddy_group_add_filter_with(api, mark, "api");
	eddy_group_add_filter_with(secret, lock, "123");
	eddy_group_add_filter_with(secret, mark, "secret");
	eddy_group_map_get(api, "/ok", ok);
	eddy_route_add_filter_with(eddy_group_map_get(secret, "/ok", ok), mark, "route");
}

/* ---- bodies ---- */

static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_bytes(res, "application/octet-stream", body);
}

static void map_bodies(struct eddy_app *app)
{
	eddy_app_map_post(app, "/echo", echo);
	eddy_route_set_body_max(eddy_app_map_post(app, "/small", echo), 10);
	eddy_route_set_body_max(eddy_app_map_post(app, "/large", echo), 2 * EDDY_MIB);
}

/* ---- errors ---- */

static int render(struct eddy_req *req, struct eddy_res *res, int status, const char *detail)
{
	if (eddy_req_header(req, "x-fail").ptr)
		return -EIO;
	return eddy_res_ok(res, "error %d: %s", status, detail ? detail : "");
}

int main(int argc, char **argv)
{
	const struct eddy_server_options options = {
		.head_timeout_ns = 200 * EDDY_MS,
		.body_timeout_ns = 200 * EDDY_MS,
	};
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, "127.0.0.1:0");
	map_groups(app);
	map_bodies(app);
	if (argc > 1 && strcmp(argv[1], "--plain-errors") == 0) {
		eddy_app_with_server(app, &options);
		eddy_app_map_err(app, render);
	}
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
