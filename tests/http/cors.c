/* Tests of eddy/cors.h. */
#include "ask.h"

#include <eddy/cors.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

/* A handler with a vary of its own. */
static int varied(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_set_z(res, "vary", "accept");
	return eddy_res_ok(res, "hello");
}

static const char *const ours[] = { "https://app.example", "http://localhost:3000", "null", NULL };
static const char *const any[] = { "*", NULL };

static struct eddy_app *app_with(const struct eddy_cors_options *options)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_cors(app, options);
	eddy_app_map_get(app, "/", hello);
	eddy_app_map_get(app, "/varied", varied);
	return app;
}

/* Ask, and give the fields that matter, "-" for those that are missing. */
static const char *fields_of(struct eddy_app *app, const char *request)
{
	static const char *const names[] = { "access-control-allow-origin", "vary",
					     "access-control-allow-credentials",
					     "access-control-expose-headers" };
	static char text[512];
	struct asked asked;

	ask(&asked, app, request);
	sprintf(text, "%d", asked.status);
	for (size_t i = 0; i < 4; i++) {
		struct eddy_str value = eddy_res_header(&asked.req->res, names[i]);

		sprintf(text + strlen(text), " | %.*s", value.ptr ? (int)value.len : 1,
			value.ptr ? value.ptr : "-");
	}
	ask_end(&asked);
	return text;
}

#define FROM(path, origin) "GET " path " HTTP/1.1\n" HOST "Origin: " origin "\n\n"

Test(cors, copies_its_options)
{
	const char *origins[] = { "https://app.example", NULL };
	char exposed[] = "etag";
	struct eddy_app *app =
		app_with(&(struct eddy_cors_options){ .origins = origins, .exposed = exposed });

	origins[0] = "https://other.example";
	exposed[0] = 'E';
	cr_expect_str_eq(fields_of(app, FROM("/", "https://app.example")),
			 "200 | https://app.example | origin | - | etag");
	eddy_app_free(app);
}

Test(cors, origins_of_the_list)
{
	struct eddy_app *app = app_with(&(struct eddy_cors_options){
		.origins = ours, .credentials = true, .exposed = "etag" });

	cr_expect_str_eq(fields_of(app, FROM("/", "https://app.example")),
			 "200 | https://app.example | origin | true | etag");
	cr_expect_str_eq(fields_of(app, FROM("/", "http://localhost:3000")),
			 "200 | http://localhost:3000 | origin | true | etag");
	cr_expect_str_eq(fields_of(app, FROM("/", "null")), "200 | null | origin | true | etag");
	cr_expect_str_eq(fields_of(app, FROM("/", "https://app.example.evil")),
			 "200 | - | origin | - | -");
	cr_expect_str_eq(fields_of(app, FROM("/", "http://app.example")),
			 "200 | - | origin | - | -");
	cr_expect_str_eq(fields_of(app, GET("/")), "200 | - | origin | - | -");
	/* Errors are read by pages as well. */
	cr_expect_str_eq(fields_of(app, FROM("/none", "https://app.example")),
			 "404 | https://app.example | origin | true | etag");
	cr_expect_str_eq(fields_of(app, "PUT / HTTP/1.1\n" HOST "Origin: https://app.example\n\n"),
			 "405 | https://app.example | origin | true | etag");
	cr_expect_str_eq(fields_of(app, FROM("/varied", "https://app.example")),
			 "200 | https://app.example | accept, origin | true | etag");
	cr_expect(not(eddyi_app_report_mistakes(app)));
	eddy_app_free(app);
}

Test(cors, any_origin)
{
	struct eddy_app *app = app_with(&(struct eddy_cors_options){ .origins = any });

	cr_expect_str_eq(fields_of(app, FROM("/", "https://who.example")), "200 | * | - | - | -");
	cr_expect_str_eq(fields_of(app, GET("/")), "200 | - | - | - | -");
	eddy_app_free(app);
}

static void expect_field(struct asked *asked, const char *name, const char *want)
{
	struct eddy_str value = eddy_res_header(&asked->req->res, name);

	if (!want)
		cr_expect(eq(ptr, (void *)value.ptr, NULL), "%s: %.*s", name, EDDY_FMT(value));
	else
		cr_expect(value.ptr && eddy_str_eq_z(value, want), "%s: %.*s", name,
			  EDDY_FMT(value));
}

#define PREFLIGHT(origin)                                                                          \
	"OPTIONS / HTTP/1.1\n" HOST "Origin: " origin "\nAccess-Control-Request-Method: PUT\n"     \
	"Access-Control-Request-Headers: x-one,x-two\n\n"

Test(cors, preflight)
{
	struct eddy_app *app = app_with(&(struct eddy_cors_options){
		.origins = ours, .max_age_s = 600, .methods = "GET, PUT" });
	struct asked asked;

	ask(&asked, app, PREFLIGHT("https://app.example"));
	cr_expect(eq(int, asked.status, 204));
	expect_field(&asked, "access-control-allow-origin", "https://app.example");
	expect_field(&asked, "access-control-allow-methods", "GET, PUT");
	expect_field(&asked, "access-control-allow-headers", "x-one,x-two");
	expect_field(&asked, "access-control-max-age", "600");
	expect_field(&asked, "vary",
		     "origin, access-control-request-method, "
		     "access-control-request-headers");
	ask_end(&asked);

	ask(&asked, app, PREFLIGHT("https://evil.example"));
	cr_expect(eq(int, asked.status, 204));
	expect_field(&asked, "access-control-allow-origin", NULL);
	expect_field(&asked, "access-control-allow-methods", NULL);
	ask_end(&asked);

	/* An OPTIONS without the field that makes it a preflight is answered as ever. */
	ask(&asked, app, "OPTIONS / HTTP/1.1\n" HOST "Origin: https://app.example\n\n");
	expect_field(&asked, "allow", "GET, HEAD, OPTIONS");
	expect_field(&asked, "access-control-allow-origin", "https://app.example");
	ask_end(&asked);
	eddy_app_free(app);

	app = app_with(&(struct eddy_cors_options){ .origins = any, .headers = "x-mine" });
	ask(&asked, app, PREFLIGHT("https://evil.example"));
	expect_field(&asked, "access-control-allow-origin", "*");
	expect_field(&asked, "access-control-allow-headers", "x-mine");
	expect_field(&asked, "access-control-max-age", NULL);
	ask_end(&asked);
	eddy_app_free(app);
}

Test(cors, of_a_group)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *api = eddy_app_group(app, "/api");

	eddy_app_use_cors(api, &(struct eddy_cors_options){ .origins = ours });
	eddy_app_map_get(api, "/x", hello);
	eddy_app_map_get(app, "/x", hello);
	cr_expect_str_eq(fields_of(app, FROM("/api/x", "null")), "200 | null | origin | - | -");
	cr_expect_str_eq(fields_of(app, FROM("/x", "null")), "200 | - | - | - | -");
	cr_expect_str_eq(fields_of(app, "OPTIONS /api/x HTTP/1.1\n" HOST
					"Origin: null\nAccess-Control-Request-Method: GET\n\n"),
			 "204 | null | origin, access-control-request-method, "
			 "access-control-request-headers | - | -");
	eddy_app_free(app);
}

/* The options of each can't be meant. */
Test(cors, mistakes)
{
	static const char *const slash[] = { "https://app.example/", NULL };
	static const char *const upper[] = { "https://App.example", NULL };
	static const char *const bare[] = { "app.example", NULL };
	static const char *const none[] = { NULL };
	static const struct eddy_cors_options bad[] = {
		{ 0 },
		{ .origins = none },
		{ .origins = slash },
		{ .origins = upper },
		{ .origins = bare },
		{ .origins = any, .credentials = true },
		{ .origins = ours, .headers = "x\r\ny" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct eddy_app *app = app_with(&bad[i]);

		cr_expect(eddyi_app_report_mistakes(app), "%zu", i);
		eddy_app_free(app);
	}
}
