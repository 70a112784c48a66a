/* limits: rate limits and body size limits for each route.
 *
 *     $ limits localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ for i in 1 2 3; do curl -s -o answer -w '%{http_code}\n' localhost:7878/search; done
 *     200
 *     200
 *     429
 *     $ cat answer
 *     {"type":"about:blank","title":"Too Many Requests","status":429,"detail":"…"}
 *     $ head -c 2000 /dev/zero | curl -s -T - -o answer -w '%{http_code}\n' localhost:7878/notes/1
 *     413
 *     $ head -c 2000 /dev/zero | curl -s -T - localhost:7878/pictures/1
 *     2000 bytes
 */
#include <eddy/http.h>

static int search(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_ok(res, "found nothing\n");
}

static int measure(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_ok(res, "%zu bytes\n", body.len);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_route *route;

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_with_server(app, &(struct eddy_server_options){
					  .body_max = 64 * EDDY_KIB, /* the default of all routes */
					  .body_timeout_ns = 10 * EDDY_SECOND,
					  .connections_max = 1000,
				  });
	route = eddy_app_map_get(app, "/search", search);
	eddy_app_use_rate_limit(route, &(struct eddy_rate_limit_options){
					       .count = 2,
					       .per_ns = 60 * EDDY_SECOND,
				       });
	eddy_route_with(eddy_app_map_put(app, "/notes/{id}", measure),
			&(struct eddy_route_options){ .body_max = EDDY_KIB });
	eddy_route_with(eddy_app_map_put(app, "/pictures/{id}", measure),
			&(struct eddy_route_options){ .body_max = EDDY_MIB });
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
