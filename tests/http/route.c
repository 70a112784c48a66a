/* Tests of eddy/route.h. */
#include "ask.h"

static int data(struct eddy_req *req, struct eddy_res *res)
{
	const char *text = eddy_req_route_data(req);

	return eddy_res_ok(res, "%s", text ? text : "none");
}

static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_ok(res, "%.*s", EDDY_FMT(body));
}

static int name(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_ok(res, "%.*s", EDDY_FMT(eddy_req_method(req)));
}

static int save(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_saved saved;
	int r = eddy_req_save_at(req, -1, eddy_str_from("name"), NULL, &saved);

	(void)res;
	return r == -EFBIG ? r : 299; /* there is no such folder, but that is found out later */
}

Test(route, data)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/none", data);
	eddy_route_with(eddy_app_map_get(app, "/a", data),
			&(struct eddy_route_options){ .data = "first" });
	eddy_route_with(eddy_app_map_get(app, "/b", data),
			&(struct eddy_route_options){ .data = "second" });
	eddy_app_map_fallback(app, data);
	EXPECT_ANSWER(app, GET("/a"), "200 first");
	EXPECT_ANSWER(app, GET("/b"), "200 second");
	EXPECT_ANSWER(app, GET("/none"), "200 none");
	EXPECT_ANSWER(app, GET("/fallback"), "200 none");
	eddy_app_free(app);
}

#define POST(path, framing, body) "POST " path " HTTP/1.1\n" HOST framing "\n\n" body
#define PUT(path, framing, body) "PUT " path " HTTP/1.1\n" HOST framing "\n\n" body

static void expect_status(const struct eddy_app *app, const char *request, int want)
{
	struct asked asked;

	ask(&asked, app, request);
	cr_expect(eq(int, asked.status, want), "%s", request);
	ask_end(&asked);
}

Test(route, limits)
{
	const struct eddy_server_options options = { .body_max = 4, .file_max = 4 };
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_server(app, &options);
	eddy_app_map_post(app, "/app", echo);
	eddy_route_with(eddy_app_map_post(app, "/less", echo),
			&(struct eddy_route_options){ .body_max = 2 });
	eddy_route_with(eddy_app_map_post(app, "/more", echo),
			&(struct eddy_route_options){ .body_max = 6 });
	eddy_route_with(eddy_app_map_post(app, "/any", echo),
			&(struct eddy_route_options){ .body_max = EDDY_NEVER });
	eddy_app_map_put(app, "/app", save);
	eddy_route_with(eddy_app_map_put(app, "/more", save),
			&(struct eddy_route_options){ .file_max = 6 });
	expect_status(app, POST("/app", "content-length: 4", "1234"), 200);
	expect_status(app, POST("/app", "content-length: 5", "12345"), 413);
	expect_status(app, POST("/less", "content-length: 2", "12"), 200);
	expect_status(app, POST("/less", "content-length: 3", "123"), 413);
	expect_status(app, POST("/more", "content-length: 6", "123456"), 200);
	expect_status(app, POST("/more", "content-length: 7", "1234567"), 413);
	expect_status(app, POST("/any", "content-length: 9", "123456789"), 200);
	expect_status(app, POST("/more", "transfer-encoding: chunked", "6\r\n123456\r\n0\r\n\r\n"),
		      200);
	expect_status(app, POST("/more", "transfer-encoding: chunked", "7\r\n1234567\r\n0\r\n\r\n"),
		      413);
	expect_status(app, POST("/any", "transfer-encoding: chunked", "7\r\n1234567\r\n0\r\n\r\n"),
		      200);
	/* Before anything is read. */
	expect_status(app, POST("/more", "content-length: 7", ""), 413);
	expect_status(app, PUT("/app", "content-length: 5", ""), 413);
	expect_status(app, PUT("/more", "content-length: 5", ""), 299);
	expect_status(app, PUT("/more", "content-length: 7", ""), 413);
	eddy_app_free(app);
}

Test(route, mappers)
{
	static const char *const methods[] = { "GET",   "HEAD",   "POST",    "PUT",
					       "PATCH", "DELETE", "OPTIONS", "TRACE" };
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "/g");
	union eddy_router routers[] = { { .app = app }, { .group = group } };

	for (int i = 0; i < 2; i++) {
		eddy_app_map_get(routers[i], "/x", name);
		eddy_app_map_head(routers[i], "/x", name);
		eddy_app_map_post(routers[i], "/x", name);
		eddy_app_map_put(routers[i], "/x", name);
		eddy_app_map_patch(routers[i], "/x", name);
		eddy_app_map_delete(routers[i], "/x", name);
		eddy_app_map_options(routers[i], "/x", name);
		eddy_app_map_trace(routers[i], "/x", name);
		eddy_app_map_connect(routers[i], "/x", name);
	}
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		char request[128], expected[32];

		snprintf(expected, sizeof(expected), "200 %s", methods[i]);
		snprintf(request, sizeof(request), "%s /x HTTP/1.1\n" HOST "\n", methods[i]);
		EXPECT_ANSWER(app, request, expected);
		snprintf(request, sizeof(request), "%s /g/x HTTP/1.1\n" HOST "\n", methods[i]);
		EXPECT_ANSWER(app, request, expected);
	}
	cr_expect(not(eddyi_app_report_mistakes(app)));
	eddy_app_free(app);
}
