/* Tests of eddy/app.h. */
#include "ask.h"

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
	return eddy_res_file(res, eddy_str_from("five"), fd);
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
		cr_expect_str_eq(asked.text,
				 "{\"type\":\"about:blank\",\"title\":\"Unknown\",\"status\":418,"
				 "\"detail\":\"the request can't be carried out\"}");
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
	int three = 3, *kept = eddy_app_layer(app, &layer);

	cr_assert(eq(int, *kept, 7));
	cr_assert(eddy_app_layer(app, &other) != kept);
	cr_assert(eddy_app_layer(app, &layer) == kept);
	eddy_app_at_free(app, layer_deinit, &three);
	cr_assert(eddy_group_app(eddy_app_group(app, "/x")) == app);
	eddy_app_free(app);
	cr_assert(eq(int, freed, 37), "the last is freed first");
}
