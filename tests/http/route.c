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
	eddy_route_set_data(eddy_app_map_get(app, "/a", data), "first");
	eddy_route_set_data(eddy_app_map_get(app, "/b", data), "second");
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
	eddy_route_set_body_max(eddy_app_map_post(app, "/less", echo), 2);
	eddy_route_set_body_max(eddy_app_map_post(app, "/more", echo), 6);
	eddy_route_set_body_max(eddy_app_map_post(app, "/any", echo), EDDY_NEVER);
	eddy_app_map_put(app, "/app", save);
	eddy_route_set_file_max(eddy_app_map_put(app, "/more", save), 6);
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
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "/g");

#define MAP(owner, verb, method)                                                                   \
	eddy_app_map_##verb(app, "/x", name);                                                      \
	eddy_group_map_##verb(group, "/x", name);
	EDDYI_MAPPERS(both, MAP)
#define ASK(owner, verb, method)                                                                   \
	if (strcmp(method, "CONNECT") != 0) {                                                      \
		EXPECT_ANSWER(app, method " /x HTTP/1.1\n" HOST "\n", "200 " method);              \
		EXPECT_ANSWER(app, method " /g/x HTTP/1.1\n" HOST "\n", "200 " method);            \
	}
	EDDYI_MAPPERS(both, ASK)
	cr_expect(not(eddyi_app_report_mistakes(app)));
	eddy_app_free(app);
}
