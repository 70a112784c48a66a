/* Tests of eddy/cookie.h. */
#include <eddy/cookie.h>

#include "ask.h"

static int show(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str first = eddy_str_from("-");
	struct eddy_pairs pairs;
	char text[1024] = "";
	int r = eddy_req_cookie(req, "a", &first);

	if (r == -ENOENT)
		r = 0;
	if (r == 0)
		r = eddy_req_cookie_pairs(req, &pairs);
	for (size_t i = 0; r == 0 && i < pairs.count; i++)
		sprintf(text + strlen(text), "[%.*s=%.*s]", EDDY_FMT(pairs.list[i].name),
			EDDY_FMT(pairs.list[i].value));
	return r < 0 ? r : eddy_res_ok(res, "%.*s %s", EDDY_FMT(first), text);
}

#define WITH(fields) "GET / HTTP/1.1\n" HOST fields "\n"

Test(cookie, reads)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/", show);
	EXPECT_ANSWER(app, WITH(""), "200 - ");
	EXPECT_ANSWER(app, WITH("Cookie: \n"), "200 - ");
	EXPECT_ANSWER(app, WITH("Cookie: a=1\n"), "200 1 [a=1]");
	EXPECT_ANSWER(app, WITH("Cookie: b=2; a=1; a=3; A=4\n"), "200 1 [b=2][a=1][a=3][A=4]");
	EXPECT_ANSWER(app, WITH("Cookie: a=;b=x=y; c = hello world ;d\n"),
		      "200  [a=][b=x=y][c=hello world]");
	EXPECT_ANSWER(app, WITH("Cookie: a=\"1\"; b=\"; c=\"\"; d=%41+\n"),
		      "200 1 [a=1][b=\"][c=][d=%41+]");
	EXPECT_ANSWER(app, WITH("Cookie: b=2\nX: a=9\ncookie: a=1\n"), "200 1 [b=2][a=1]");
	EXPECT_ANSWER(app, WITH("Cookie: ===;;;=x; =\n"), "200 - ");
	eddy_app_free(app);
}

static int set(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_cookie *cookie = eddy_req_context(req);
	int r = eddy_res_cookie(res, cookie);

	return r < 0 ? r : eddy_res_ok(res, "%.*s", EDDY_FMT(eddy_res_header(res, "set-cookie")));
}

static void expect(const struct eddy_cookie *cookie, const char *want)
{
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	eddy_app_map_get(app, "/", set);
	eddy_app_set_context(app, (void *)cookie);
	ask(&asked, app, GET("/"));
	if (want)
		cr_expect_str_eq(asked.text, want, "%s: %s", cookie->name, asked.text);
	else
		cr_expect(eq(int, asked.status, 400), "%s", asked.text);
	ask_end(&asked);
	eddy_app_free(app);
}

#define EXPECT(want, ...) expect(&(struct eddy_cookie){ __VA_ARGS__ }, want)
#define STR(text) eddy_str_from(text)

Test(cookie, sets)
{
	EXPECT("a=", .name = "a");
	EXPECT("a=b/c:=!#&'()*", .name = "a", .value = STR("b/c:=!#&'()*"));
	EXPECT("id=1; Domain=example.org; Path=/x y; Max-Age=60; Expires=Sun, 06 Nov 1994 08:49:37 "
	       "GMT; Secure; HttpOnly; SameSite=Strict",
	       .name = "id", .value = STR("1"), .domain = "example.org", .path = "/x y",
	       .max_age_s = 60, .expires_s = 784111777, .secure = true, .http_only = true,
	       .same_site = EDDY_SAME_SITE_STRICT);
	EXPECT("a=1; Max-Age=18446744073709551615; Expires=Fri, 31 Dec 9999 23:59:59 GMT; "
	       "SameSite=Lax",
	       .name = "a", .value = STR("1"), .max_age_s = UINT64_MAX, .expires_s = INT64_MAX,
	       .same_site = EDDY_SAME_SITE_LAX);
	EXPECT("a=1; Secure; SameSite=None", .name = "a", .value = STR("1"), .secure = true,
	       .same_site = EDDY_SAME_SITE_NONE);
	EXPECT("a=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT", .name = "a",
	       .path = "/", .max_age_s = 60, .expires_s = 5, .forget = true);
	EXPECT("__Host-a=1; Path=/; Secure", .name = "__Host-a", .value = STR("1"), .path = "/",
	       .secure = true);
	EXPECT("__Secure-a=1; Domain=x; Secure", .name = "__Secure-a", .value = STR("1"),
	       .domain = "x", .secure = true);
	EXPECT("__Hosta=1", .name = "__Hosta", .value = STR("1"));
}

Test(cookie, refuses)
{
	static const char *const values[] = { "a b",    "a\"",      "a,b",  "a;b", "a\\",
					      "a\r\nb", "\xc3\xa9", "\x7f", "\t",  "\"a\"" };
	static const char *const names[] = { "", "a b", "a=", "a;", "\"a\"", "caf\xc3\xa9", NULL };
	static const char *const domains[] = { "", ".example.org", "a b", "a;b", "a/b", "\xc3\xa9" };
	static const char *const paths[] = { "", "x", "/a;b", "/\r\n", "/caf\xc3\xa9", "/\x7f" };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		EXPECT(NULL, .name = "a", .value = STR(values[i]));
	EXPECT(NULL, .name = "a", .value = EDDY_STR("a\0b"));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		EXPECT(NULL, .name = names[i]);
	for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++)
		EXPECT(NULL, .name = "a", .domain = domains[i]);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		EXPECT(NULL, .name = "a", .path = paths[i]);
	EXPECT(NULL, .name = "a", .same_site = EDDY_SAME_SITE_NONE);
	EXPECT(NULL, .name = "__Secure-a");
	EXPECT(NULL, .name = "__SECURE-a");
	EXPECT(NULL, .name = "__Host-a", .path = "/");
	EXPECT(NULL, .name = "__host-a", .secure = true);
	EXPECT(NULL, .name = "__Host-a", .secure = true, .path = "/x");
	EXPECT(NULL, .name = "__Host-a", .secure = true, .path = "/", .domain = "x");
}

Test(cookie, lengths)
{
	char value[4097];

	memset(value, 'v', sizeof(value));
	for (size_t len = 4095; len < 4097; len++) {
		struct eddy_cookie cookie = { .name = "n", .value = eddy_str(value, len) };
		struct eddy_app *app = eddy_app_new();
		struct asked asked;

		eddy_app_map_get(app, "/", set);
		eddy_app_set_context(app, &cookie);
		ask(&asked, app, GET("/"));
		cr_expect(eq(int, asked.status, len > 4095 ? 400 : 200));
		ask_end(&asked);
		eddy_app_free(app);
	}
}

/* Each has its own line, which no list joins. */
static int set_two(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_cookie(res, &(struct eddy_cookie){ .name = "a" });
	return eddy_res_cookie(res, &(struct eddy_cookie){ .name = "b" });
}

Test(cookie, two)
{
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	eddy_app_map_get(app, "/", set_two);
	ask(&asked, app, GET("/"));
	cr_expect(eq(uint, asked.req->res.header_count, 2));
	cr_expect(eddy_str_eq_z(asked.req->res.headers[0].value, "a="));
	cr_expect(eddy_str_eq_z(asked.req->res.headers[1].value, "b="));
	ask_end(&asked);
	eddy_app_free(app);
}
