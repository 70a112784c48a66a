/* both: query two services concurrently, and leave out late answers.
 *
 *     $ both localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/journey
 *     weather: sunny
 *     train: did not say
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <stdio.h>

struct question {
	struct eddy_req *req;
	const char *path;
	char answer[100];
};

static int ask(void *arg)
{
	struct question *question = arg;
	struct eddy_response *response;
	struct eddy_str body;
	char url[100];
	int r;

	snprintf(url, sizeof(url), "http://localhost:%u%s",
		 eddy_app_port(eddy_req_app(question->req)), question->path);
	r = eddy_client_get(eddy_req_client(question->req), url, &response);
	if (r < 0)
		return r;
	r = eddy_response_body(response, &body);
	if (r == 0 && eddy_response_status(response) == 200)
		snprintf(question->answer, sizeof(question->answer), "%.*s", EDDY_FMT(body));
	eddy_response_free(response);
	return r;
}

/* GET /journey */
static int journey(struct eddy_req *req, struct eddy_res *res)
{
	struct question weather = { req, "/weather", "did not say" };
	struct question train = { req, "/train", "did not say" };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 500 * EDDY_MS });
	eddy_scope_spawn(&scope, "weather", ask, &weather);
	eddy_scope_spawn(&scope, "train", ask, &train);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope); /* cancels late tasks, and waits for them */
	return eddy_res_ok(res, "weather: %s\ntrain: %s\n", weather.answer, train.answer);
}

/* These two handlers stand for other services. */
static int sunny(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_ok(res, "sunny");
}

static int late(struct eddy_req *req, struct eddy_res *res)
{
	eddy_sleep(EDDY_SECOND);
	return eddy_res_ok(res, "platform 3");
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_map_get(app, "/journey", journey);
	eddy_app_map_get(app, "/weather", sunny);
	eddy_app_map_get(app, "/train", late);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
