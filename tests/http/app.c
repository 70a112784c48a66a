/* Tests of eddy/app.h. */
#include "ask.h"
#include "said.h"

#include <eddy/runtime.h>
#include <eddy/test.h>
#include <sys/mman.h>
#include <unistd.h>

static int missing(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_set_z(res, "x-kept", "yes") ? 500 : -ENOENT;
}

static int teapot(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_set_z(res, "content-type", "text/html");
	eddy_res_set_z(res, "cache-control", "max-age=5");
	return 418;
}

static int no_status(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return 1000;
}

static int number(struct eddy_req *req, struct eddy_res *res)
{
	int n;

	(void)res;
	return eddy_req_path(req, EDDY_TO(&n)) < 0 ? 400 : 204;
}

static int explicit_problem(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_problem(res, 409, "mine");
}

/* Five bytes. */
static int file(struct eddy_req *req, struct eddy_res *res)
{
	int fd = memfd_create("five", MFD_CLOEXEC);

	(void)req;
	if (fd < 0 || ftruncate(fd, 5) < 0)
		return 500;
	return eddy_res_file(res, eddy_str_from("five"), fd, NULL);
}

static int plain(struct eddy_req *req, struct eddy_res *res, int status, const char *detail)
{
	(void)req;
	return eddy_res_ok(res, "%d: %s", status, detail ? detail : "-");
}

/* Fails behind half of its work, in one way or another. */
static int half(struct eddy_req *req, struct eddy_res *res, int status, const char *detail)
{
	int *how = eddy_req_context(req);

	(void)detail;
	eddy_res_status(res, 200);
	eddy_res_set_z(res, "content-type", "text/html");
	eddy_res_ok(res, "oops %d", status);
	return *how;
}

static void map(struct eddy_app *app)
{
	eddy_app_map_get(app, "/missing", missing);
	eddy_app_map_get(app, "/teapot", teapot);
	eddy_app_map_get(app, "/no-status", no_status);
	eddy_app_map_get(app, "/number/{n}", number);
	eddy_app_map_get(app, "/problem", explicit_problem);
	eddy_app_map_post(app, "/teapot", teapot);
	eddy_app_map_get(app, "/file", file);
}

Test(app, renders_errors)
{
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	map(app);
	eddy_app_map_err(app, plain);
	EXPECT_ANSWER(app, GET("/none"), "404 404: -");
	EXPECT_ANSWER(app, GET("/no-status"), "500 500: -");
	EXPECT_ANSWER(
		app, GET("/number/x"),
		"400 400: the path parameter \"n\" must be an integer from -2147483648 to 2147483647");
	EXPECT_ANSWER(app, GET("/%zz"),
		      "400 400: the path has a percent escape that is malformed or not allowed");
	EXPECT_ANSWER(app, "GET / HTTP/1.1\n\n", "400 400: the host field is missing");
	EXPECT_ANSWER(app, "GET /file HTTP/1.1\n" HOST "if-match: \"x\"\n\n", "412 412: -");
	ask(&asked, app, "GET /file HTTP/1.1\n" HOST "range: bytes=5-\n\n");
	cr_expect_str_eq(asked.text, "416: the range lies outside of the file");
	cr_expect_str_eq(eddy_res_header(&asked.req->res, "content-range").ptr, "bytes */5");
	cr_expect(eddy_res_header(&asked.req->res, "etag").ptr == NULL);
	ask_end(&asked);
	ask(&asked, app, GET("/missing"));
	cr_expect_str_eq(asked.text, "404: -");
	cr_expect_str_eq(eddy_res_header(&asked.req->res, "x-kept").ptr, "yes");
	ask_end(&asked);
	/* What described the handler's body is gone. */
	ask(&asked, app, GET("/teapot"));
	cr_expect_str_eq(asked.text, "418: -");
	cr_expect_str_eq(eddy_res_header(&asked.req->res, "content-type").ptr,
			 "text/plain; charset=utf-8");
	cr_expect(eddy_res_header(&asked.req->res, "cache-control").ptr == NULL);
	ask_end(&asked);
	ask(&asked, app, "PUT /teapot HTTP/1.1\n" HOST "\n");
	cr_expect_str_eq(asked.text, "405: -");
	cr_expect_str_eq(eddy_res_header(&asked.req->res, "allow").ptr, "GET, HEAD, POST, OPTIONS");
	ask_end(&asked);
	ask(&asked, app,
	    "POST /teapot HTTP/1.1\n" HOST "content-length: 1\ncontent-encoding: br\n\nx");
	cr_expect_str_eq(asked.text, "415: the body must not have a content-encoding");
	cr_expect_str_eq(eddy_res_header(&asked.req->res, "accept-encoding").ptr, "identity");
	ask_end(&asked);
	ask(&asked, app, GET("/problem"));
	cr_expect(strstr(asked.text, "\"detail\":\"mine\"") != NULL);
	ask_end(&asked);
	eddy_app_free(app);
}

/* Whatever the renderer fails with, the client hears of the error itself. */
Test(app, renderer_fails)
{
	static const int ways[] = { -ENOENT, -ENOMEM, 500, 200 };
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	map(app);
	eddy_app_map_err(app, half);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		eddy_app_set_context(app, (void *)&ways[i]);
		ask(&asked, app, GET("/teapot"));
		cr_expect(eq(int, asked.r, 0));
		cr_expect(eq(int, asked.status, 418));
		cr_expect_str_eq(
			asked.text,
			"{\"type\":\"about:blank\",\"title\":\"Unknown\",\"status\":418,\"detail\":\"the request can't be processed\"}");
		cr_expect_str_eq(eddy_res_header(&asked.req->res, "content-type").ptr,
				 "application/problem+json");
		ask_end(&asked);
	}
	eddy_app_free(app);
}

/* ---- eddy/layer.h ---- */

static int freed;

static void layer_init(struct eddy_app *app, void *kept)
{
	cr_assert(app != NULL && *(int *)kept == 0);
	*(int *)kept = 7;
}

static void layer_deinit(void *kept)
{
	freed = freed * 10 + *(int *)kept;
}

Test(app, keeps_what_a_layer_has_once)
{
	static const struct eddy_layer layer = { "numbers", sizeof(int), layer_init, layer_deinit };
	static const struct eddy_layer other = { "other", 8, NULL, NULL };
	struct eddy_app *app = eddy_app_new();
	int three = 3, *kept;

	cr_assert(eddy_app_find_layer(app, &layer) == NULL);
	kept = eddy_app_layer(app, &layer);
	cr_assert(eddy_app_find_layer(app, &layer) == kept);
	cr_assert(eq(int, *kept, 7));
	cr_assert(eddy_app_layer(app, &other) != kept);
	cr_assert(eddy_app_layer(app, &layer) == kept);
	eddy_app_at_free(app, layer_deinit, &three);
	cr_assert(eddy_app_of(eddy_app_group(app, "/x")) == app);
	eddy_app_free(app);
	cr_assert(eq(int, freed, 37), "the last is freed first");
}

static int stop_at_door(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const char *detail = "closed";
	int status = eddy_req_refusal(req, &detail);

	if (!status && !eddy_str_eq_z(eddy_req_target_path(req), "/closed"))
		return eddy_next(next, req, res);
	eddy_res_set_z(res, "x-door", "kept");
	return eddy_res_error(res, status ? status : 403, detail);
}

Test(app, answers_for_a_layer_as_for_itself)
{
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	map(app);
	eddy_app_add_filter(app, stop_at_door, NULL);
	ask(&asked, app, GET("/closed"));
	cr_expect(eq(int, asked.status, 403));
	cr_expect(strstr(asked.text, "\"detail\":\"closed\"") != NULL);
	ask_end(&asked);
	eddy_app_map_err(app, plain);
	EXPECT_ANSWER(app, GET("/none"), "404 404: -");
	EXPECT_ANSWER(app, "GET / HTTP/1.1\n\n", "400 400: the host field is missing");
	ask(&asked, app, GET("/closed"));
	cr_expect_str_eq(asked.text, "403: closed");
	cr_expect_str_eq(eddy_res_header(&asked.req->res, "x-door").ptr, "kept");
	ask_end(&asked);
	eddy_app_free(app);
}

struct started {
	struct eddy_app *app;
	char calls[16]; /* a letter for each */
	int fails;      /* what `a` returns */
	int statuses[2];
};

static int say_hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

static void note(struct started *started, const char *call)
{
	cr_assert_lt(strlen(started->calls), sizeof(started->calls) - 1);
	strcat(started->calls, call);
}

static int start_a(struct eddy_app *app, void *data)
{
	struct started *started = data;

	cr_assert_eq(app, started->app);
	note(started, "a");
	return started->fails;
}

static int start_late(struct eddy_app *app, void *data)
{
	(void)app;
	note(data, "l");
	return 0;
}

/* Maps a route, and asks for one more. */
static int start_b(struct eddy_app *app, void *data)
{
	note(data, "b");
	eddy_app_map_get(app, "/hello", say_hello);
	eddy_app_at_start(app, start_late, data);
	return 0;
}

static int start_badly(struct eddy_app *app, void *data)
{
	note(data, "x");
	eddy_app_mistake(app, "no good");
	return 0;
}

/* Return: the status, or -errno. */
static int status_of(struct eddy_app *app, const char *line)
{
	struct eddy_response *response;
	int r = eddy_app_test(app, line, NULL, &response);

	if (r < 0)
		return r;
	r = eddy_response_status(response);
	eddy_response_free(response);
	return r;
}

Test(app, does_at_start_what_it_was_asked_to_once)
{
	struct started started = { .app = eddy_app_new() };

	eddy_app_at_start(started.app, start_a, &started);
	eddy_app_at_start(started.app, start_b, &started);
	cr_expect_str_eq(started.calls, "");
	cr_expect_eq(status_of(started.app, "GET /hello"), 200);
	cr_expect_str_eq(started.calls, "abl");
	cr_expect_eq(status_of(started.app, "GET /hello"), 200);
	cr_expect_str_eq(started.calls, "abl");
	eddy_app_at_start(started.app, start_late, &started);
	cr_expect_eq(status_of(started.app, "GET /hello"), 200);
	cr_expect_str_eq(started.calls, "abll");
	eddy_app_free(started.app);
}

static int run_ended(void *arg)
{
	eddy_app_shutdown(arg);
	return eddy_app_run(arg);
}

Test(app, does_at_each_run_what_it_was_asked_to)
{
	struct started started = { .app = eddy_app_new() };

	eddy_app_bind(started.app, "127.0.0.1:0");
	eddy_app_at_start(started.app, start_a, &started);
	eddy_app_at_start(started.app, start_late, &started);
	cr_expect_eq(eddy_run(NULL, run_ended, started.app), 0);
	cr_expect_str_eq(started.calls, "al");
	cr_expect_eq(status_of(started.app, "GET /"), 404);
	cr_expect_str_eq(started.calls, "al");
	cr_expect_eq(eddy_run(NULL, run_ended, started.app), 0);
	cr_expect_str_eq(started.calls, "alal");
	/* Asked for again it keeps its place. */
	eddy_app_at_start(started.app, start_a, &started);
	cr_expect_eq(status_of(started.app, "GET /"), 404);
	cr_expect_str_eq(started.calls, "alala");
	eddy_app_free(started.app);
}

Test(app, tells_mistakes_of_each_run_once)
{
	struct started started = { .app = eddy_app_new() };

	eddy_app_at_start(started.app, start_badly, &started);
	for (int i = 0; i < 2; i++) {
		said_begin();
		cr_expect_eq(eddy_run(NULL, run_ended, started.app), -EINVAL);
		cr_expect_str_eq(said_end(), "no good\n");
	}
	cr_expect_str_eq(started.calls, "x");
	eddy_app_free(started.app);
}

Test(app, tries_again_what_failed_at_start)
{
	struct started started = { .app = eddy_app_new(), .fails = -EIO };

	eddy_app_at_start(started.app, start_a, &started);
	eddy_app_at_start(started.app, start_b, &started);
	said_begin();
	cr_expect_eq(status_of(started.app, "GET /hello"), -EIO);
	cr_expect_str_eq(said_end(), "can't start: a function of eddy_app_at_start() failed: "
				     "Input/output error\n");
	cr_expect_str_eq(started.calls, "a");
	started.fails = 0;
	cr_expect_eq(status_of(started.app, "GET /hello"), 200);
	cr_expect_str_eq(started.calls, "aabl");
	eddy_app_free(started.app);
}

Test(app, tells_mistakes_of_its_start)
{
	struct started started = { .app = eddy_app_new() };

	eddy_app_map_get(started.app, "no slash", say_hello);
	eddy_app_at_start(started.app, start_badly, &started);
	for (int i = 0; i < 2; i++) {
		said_begin();
		cr_expect_eq(status_of(started.app, "GET /"), -EINVAL);
		said_end();
		cr_expect(strstr(said, "no slash") != NULL, "%s", said);
		cr_expect(strstr(said, "no good\n") != NULL, "%s", said);
	}
	cr_expect_str_eq(started.calls, "x");
	eddy_app_free(started.app);
}

static int start_slowly(struct eddy_app *app, void *data)
{
	int r = eddy_sleep(EDDY_MS);

	if (r == 0)
		start_b(app, data);
	return r;
}

static int ask_first(void *arg)
{
	struct started *started = arg;

	started->statuses[0] = status_of(started->app, "GET /hello");
	return 0;
}

static int ask_both(void *arg)
{
	struct started *started = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "first", ask_first, started);
	started->statuses[1] = status_of(started->app, "GET /hello");
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

/* Nobody is served by an app that is half begun. */
Test(app, starts_as_a_whole)
{
	struct started started = { .app = eddy_app_new() };

	eddy_app_at_start(started.app, start_slowly, &started);
	cr_expect_eq(eddy_run(NULL, ask_both, &started), 0);
	cr_expect_eq(started.statuses[0], 200);
	cr_expect_eq(started.statuses[1], 200);
	cr_expect_str_eq(started.calls, "bl");
	eddy_app_free(started.app);
}
