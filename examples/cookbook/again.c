/* again: retry a failing service, with exponential backoff.
 *
 *     $ again localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/price
 *     42 at the third time
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <stdio.h>

/* GET /price: four tries, and one second for all of them together. */
static int price(struct eddy_req *req, struct eddy_res *res)
{
	static const struct eddy_client_retry retry = { .max = 3, .delay_ns = 20 * EDDY_MS };
	struct eddy_response *response = NULL;
	struct eddy_scope scope;
	struct eddy_str body;
	char url[64];
	int r, ended;

	snprintf(url, sizeof(url), "http://localhost:%u/moody", eddy_app_port(eddy_req_app(req)));
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_SECOND });
	r = eddy_client_send(eddy_req_client(req), url,
			     &(struct eddy_client_request){ .retry = &retry }, &response);
	if (r == 0) {
		r = eddy_response_status(response) == 200 ? eddy_response_body(response, &body) :
							    502;
		if (r == 0)
			r = eddy_res_ok(res, "%.*s\n", EDDY_FMT(body));
		eddy_response_free(response);
	}
	ended = eddy_scope_end(&scope);
	return ended < 0 ? ended : r; /* -ETIMEDOUT becomes a 504 */
}

/* GET /moody stands for another service, which fails twice. */
static int moody(struct eddy_req *req, struct eddy_res *res)
{
	static unsigned asked;

	return ++asked < 3 ? 503 : eddy_res_ok(res, "42 at the third time");
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_map_get(app, "/price", price);
	eddy_app_map_get(app, "/moody", moody);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
