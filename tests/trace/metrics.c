/* Tests of eddy/metrics.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <eddy/trace.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

static int read_body(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_ok(res, "%zu", body.len);
}

static int break_off(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_write(res, "some", 4);

	(void)req;
	return r < 0 ? r : -EIO;
}

static struct eddy_app *make(void)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "/api");

	eddy_app_use_metrics(app);
	eddy_app_map_get(app, "/hello/{name}", hello);
	eddy_app_map_post(app, "/read", read_body);
	eddy_app_map_get(app, "/break", break_off);
	eddy_app_map_get(group, "/things", hello);
	eddy_app_map_get(app, "/metrics", eddy_metrics);
	return app;
}

static void ask(struct eddy_app *app, const char *line, int status)
{
	struct eddy_response *response = NULL;

	cr_assert(eq(int, eddy_app_test(app, line, NULL, &response), 0), "%s", line);
	cr_expect(eq(int, eddy_response_status(response), status), "%s", line);
	eddy_response_free(response);
}

/* The value behind `series`, or -1. */
static double value(const char *series)
{
	const char *at;
	double found = -1;
	char *text;
	size_t len;

	cr_assert(eq(int, eddy_metric_text(&text, &len), 0));
	text[len - 1] = 0;
	at = strstr(text, series);
	if (at && at[strlen(series)] == ' ')
		found = strtod(at + strlen(series), NULL);
	free(text);
	return found;
}

#define EXPECT(series, wanted) cr_expect(eq(dbl, value(series), wanted), "%s", series)
#define REQUESTS(method, route, status)                                                            \
	"\neddy_http_requests_total{method=\"" method "\",route=\"" route "\",status=\"" status    \
	"\"}"

Test(metrics, are_of_patterns_methods_and_statuses)
{
	struct eddy_app *app = make();

	ask(app, "GET /hello/a", 200);
	ask(app, "GET /hello/b", 200);
	ask(app, "HEAD /hello/b", 200);
	ask(app, "GET /api/things", 200);
	ask(app, "GET /none", 404);
	ask(app, "PUT /hello/a", 405);
	ask(app, "GET /%00", 400);
	EXPECT(REQUESTS("GET", "/hello/{name}", "2xx"), 2);
	EXPECT(REQUESTS("GET", "/hello/{name}", "4xx"), 0);
	EXPECT(REQUESTS("HEAD", "/hello/{name}", "2xx"), 1);
	EXPECT(REQUESTS("GET", "/api/things", "2xx"), 1);
	EXPECT(REQUESTS("GET", "(none)", "4xx"), 2);
	EXPECT(REQUESTS("PUT", "(none)", "4xx"), 1);
	/* Those that were never asked are not there. */
	EXPECT(REQUESTS("POST", "/read", "2xx"), -1);
	EXPECT("\neddy_http_requests_in_flight", 0);
	EXPECT("\neddy_http_request_duration_seconds_count{method=\"GET\",route=\"/hello/{name}\"}",
	       2);
	eddy_app_free(app);
}

Test(metrics, patterns_are_escaped)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_metrics(app);
	eddy_app_map_get(app, "/odd%22\\", hello);
	ask(app, "GET /odd%22%5C", 200);
	EXPECT(REQUESTS("GET", "/odd%22\\\\", "2xx"), 1);
	eddy_app_free(app);
}

Test(metrics, count_bytes_and_what_is_cut)
{
	struct eddy_app *app = make();
	struct eddy_response *response = NULL;
	const struct eddy_client_request request = { .body = EDDY_STR("12345") };

	cr_assert(eq(int, eddy_app_test(app, "POST /read", &request, &response), 0));
	eddy_response_free(response);
	cr_expect(eddy_app_test(app, "GET /break", NULL, &response) < 0);
	EXPECT("\neddy_http_request_body_bytes_total{method=\"POST\",route=\"/read\"}", 5);
	EXPECT("\neddy_http_responses_cut_total{method=\"POST\",route=\"/read\"}", 0);
	EXPECT("\neddy_http_responses_cut_total{method=\"GET\",route=\"/break\"}", 1);
	EXPECT(REQUESTS("GET", "/break", "2xx"), 1);
	cr_expect(value("\neddy_http_response_bytes_total{method=\"POST\",route=\"/read\"}") > 50);
	eddy_app_free(app);
}

/* Two apps with one pattern share its numbers, which outlive both; one that is used twice counts once. */
Test(metrics, are_the_process_s)
{
	struct eddy_app *one = make(), *other = make();

	eddy_app_use_metrics(one);
	ask(one, "GET /hello/a", 200);
	ask(other, "GET /hello/a", 200);
	EXPECT(REQUESTS("GET", "/hello/{name}", "2xx"), 2);
	eddy_app_free(one);
	eddy_app_free(other);
	EXPECT(REQUESTS("GET", "/hello/{name}", "2xx"), 2);
	EXPECT("\neddy_http_connections", 0);
}

static bool has_ended;

static int run(void *app)
{
	int r = eddy_app_run(app);

	has_ended = true;
	return r;
}

static int serve_one(void *arg)
{
	struct eddy_client *client = eddy_client_new(NULL);
	struct eddy_response *response = NULL;
	struct eddy_app *app = arg;
	struct eddy_scope scope;
	char url[64];
	int r;

	has_ended = false;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, app);
	while (!eddy_app_port(app) && !has_ended)
		eddy_sleep(EDDY_MS);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/hello/x", eddy_app_port(app));
	r = eddy_client_get(client, url, &response);
	eddy_response_free(response);
	eddy_client_free(client);
	eddy_app_shutdown(app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

Test(metrics, connections_of_apps_that_are_gone_still_count)
{
	for (int i = 1; i <= 2; i++) {
		struct eddy_app *app = make();

		eddy_app_bind(app, "127.0.0.1:0");
		eddy_app_with_server(app, &(struct eddy_server_options){ .no_signals = true });
		cr_assert(eq(int, eddy_run(NULL, serve_one, app), 0));
		EXPECT("\neddy_http_connections_accepted_total", i);
		EXPECT("\neddy_http_connections", 0);
		eddy_app_free(app);
		EXPECT("\neddy_http_connections_accepted_total", i);
	}
}

/* More than there are rows for. */
#define PATTERNS 2100
#define ROWS 2048

static int ask_each(void *arg)
{
	struct eddy_response *response = NULL;
	char line[32];
	int r = 0;

	for (int i = 0; i < PATTERNS && r == 0; i++) {
		snprintf(line, sizeof(line), "GET /%d", i);
		r = eddy_app_test(arg, line, NULL, &response);
		if (r == 0)
			eddy_response_free(response);
	}
	return r;
}

Test(metrics, have_a_bound)
{
	struct eddy_app *app = eddy_app_new();
	char pattern[32];

	eddy_app_use_metrics(app);
	for (int i = 0; i < PATTERNS; i++) {
		snprintf(pattern, sizeof(pattern), "/%d", i);
		eddy_app_map_get(app, pattern, hello);
	}
	cr_assert(eq(int, eddy_run(NULL, ask_each, app), 0));
	EXPECT(REQUESTS("GET", "/0", "2xx"), 1);
	EXPECT(REQUESTS("GET", "/2047", "2xx"), 1);
	EXPECT(REQUESTS("GET", "/2048", "2xx"), -1);
	EXPECT(REQUESTS("other", "(other)", "2xx"), PATTERNS - ROWS);
	cr_assert(eq(int, eddy_run(NULL, ask_each, app), 0));
	EXPECT(REQUESTS("GET", "/2047", "2xx"), 2);
	EXPECT(REQUESTS("other", "(other)", "2xx"), 2 * (PATTERNS - ROWS));
	eddy_app_free(app);
}

Test(metrics, are_on_the_wire)
{
	struct eddy_app *app = make();
	struct eddy_response *response = NULL;
	struct eddy_str body, type;

	cr_assert(eq(int, eddy_app_test(app, "GET /metrics", NULL, &response), 0));
	type = eddy_response_header(response, "content-type");
	cr_expect(eddy_str_eq_z(type, "text/plain; version=0.0.4; charset=utf-8"));
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	cr_expect(memmem(body.ptr, body.len, "\neddy_http_requests_in_flight 1\n", 32) != NULL);
	eddy_response_free(response);
	eddy_app_free(app);
}
