/* again: retry a failing service, with exponential backoff.
 *
 *     $ again localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/price
 *     42 at the third time
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ATTEMPTS 4

/* Whether a retry may succeed. */
static bool is_passing(int r, const struct eddy_response *response)
{
	int status = r < 0 ? 0 : eddy_response_status(response);

	return r == -ECONNREFUSED || r == -ECONNRESET || r == -EPIPE || r == -EHOSTUNREACH ||
	       status == 429 || status == 502 || status == 503 || status == 504;
}

/* GET with retries. Pauses double, and half of each is random (jitter): otherwise clients that were
 * rejected together would retry together. A Retry-After field takes precedence. */
static int get_patiently(struct eddy_client *client, const char *url,
			 struct eddy_response **ret_response)
{
	uint64_t pause_ns = 20 * EDDY_MS;

	for (unsigned attempt = 1;; attempt++) {
		uint64_t wait_ns = pause_ns / 2 + (uint64_t)random() % (pause_ns / 2);
		int r = eddy_client_get(client, url, ret_response);

		if (attempt == ATTEMPTS || !is_passing(r, *ret_response))
			return r;
		if (r == 0) {
			eddy_response_retry_after(*ret_response, &wait_ns);
			eddy_response_free(*ret_response);
		}
		r = eddy_sleep(wait_ns);
		if (r < 0)
			return r;
		pause_ns *= 2;
	}
}

/* GET /price: one second for all attempts together. */
static int price(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_response *response = NULL;
	struct eddy_scope scope;
	struct eddy_str body;
	char url[64];
	int r, ended;

	snprintf(url, sizeof(url), "http://localhost:%u/moody", eddy_app_port(eddy_req_app(req)));
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_SECOND });
	r = get_patiently(eddy_req_client(req), url, &response);
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
