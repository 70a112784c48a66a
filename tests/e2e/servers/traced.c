/* traced: a service whose spans are exported, for the tests.
 *
 *     traced CONFIG
 *
 * CONFIG says where it listens, and how it traces.
 */
#include <eddy/config.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/trace.h>

#include <errno.h>
#include <stdio.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_ok(res, "Hello, %.*s!", EDDY_FMT(name));
}

static int fail(struct eddy_req *req, struct eddy_res *res)
{
	int status;

	(void)res;
	return eddy_req_path(req, EDDY_TO(&status)) < 0 ? 400 : status;
}

/* ---- spans of its own ---- */

static int in_task(void *arg)
{
	struct eddy_span span;

	(void)arg;
	eddy_span_begin(&span, "task", NULL);
	eddy_sleep(EDDY_MS);
	eddy_info("work", "in the task");
	eddy_span_end(&span);
	return 0;
}

static void do_work(void)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "task", in_task, NULL);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
}

static int work(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_span span;

	(void)req;
	eddy_info("work", "before");
	eddy_span_set(eddy_span_current(), eddy_field_text("of.handler", "yes"));
	eddy_span_begin(&span, "work", &(struct eddy_span_options){ .kind = EDDY_SPAN_CONSUMER });
	eddy_span_set(&span, eddy_field_str("text", EDDY_STR("a\"\xff\n")));
	eddy_span_set(&span, eddy_field_i64("number", -7));
	eddy_span_set(&span, eddy_field_f64("real", 0.25));
	eddy_span_set(&span, eddy_field_bool("flag", true));
	do_work();
	eddy_span_set_status(&span, EDDY_SPAN_ERROR, "half done");
	eddy_span_end(&span);
	return eddy_res_ok(res, "done");
}

/* ---- others ---- */

static int ask_for(struct eddy_client *client, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_response *response = NULL;
	struct eddy_str url = eddy_req_header(req, "x-url"), body = EDDY_STR("");
	char *text = eddy_req_alloc(req, url.len + 1);
	int r;

	if (!text)
		return -ENOMEM;
	snprintf(text, url.len + 1, "%.*s", EDDY_FMT(url));
	r = eddy_client_get(client, text, &response);
	if (r == 0) {
		eddy_response_body(response, &body);
		r = eddy_response_status(response);
	}
	r = eddy_res_ok(res, "%d %.*s", r, EDDY_FMT(body));
	eddy_response_free(response);
	return r;
}

/* Ask for the URL of x-url. */
static int ask(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_client *client =
		eddy_client_new(&(struct eddy_client_options){ .redirects_max = 2 });
	int r = client ? ask_for(client, req, res) : -ENOMEM;

	eddy_client_free(client);
	return r;
}

static int stats(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_tracing_stats stats = eddy_tracing_stats();

	(void)req;
	return eddy_res_json(
		res, json_pack("{s:I, s:I, s:I, s:I}", "malformed", (json_int_t)stats.malformed,
			       "exported", (json_int_t)stats.exported, "dropped",
			       (json_int_t)stats.dropped, "failed", (json_int_t)stats.failed));
}

/* Inside of a span, which is neither that of its requests nor of what is posted. */
static int run(void *arg)
{
	struct eddy_span span;
	int r;

	eddy_span_begin(&span, "service", NULL);
	r = eddy_app_run(arg);
	eddy_span_end(&span);
	return r;
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	int r;

	if (argc != 2) {
		fputs("usage: traced CONFIG\n", stderr);
		return 2;
	}
	eddy_log_text_subscribe();
	eddy_app_with_config(app, argv[1]);
	eddy_app_use_tracing(app);
	eddy_app_map_get(app, "/hello/{name}", hello);
	eddy_app_map_get(app, "/fail/{status}", fail);
	eddy_app_map_get(app, "/work", work);
	eddy_app_map_get(app, "/ask", ask);
	eddy_app_map_get(app, "/stats", stats);
	r = eddy_run(NULL, run, app);
	eddy_app_free(app);
	return r < 0 ? 1 : 0;
}
