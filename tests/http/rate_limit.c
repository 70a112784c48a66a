/* Tests of eddy/rate_limit.h. */
#include "ask.h"

#include <eddy/rate_limit.h>
#include <unistd.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

/* The status, and what retry-after says. */
static const char *outcome(struct eddy_app *app, const char *request)
{
	static char text[64];
	struct eddy_str after;
	struct asked asked;

	ask(&asked, app, request);
	after = eddy_res_header(&asked.req->res, "retry-after");
	snprintf(text, sizeof(text), "%d %.*s", asked.status, EDDY_FMT(after));
	ask_end(&asked);
	return text;
}

#define KEYED(key) "GET / HTTP/1.1\n" HOST "X-Api-Key: " key "\n\n"

/* An hour for each request: no test takes so long. */
Test(rate_limit, by_field)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_rate_limit(app,
				&(struct eddy_rate_limit_options){ .count = 1,
								   .per_ns = 3600 * EDDY_SECOND,
								   .burst = 2,
								   .header = "x-api-key" });
	eddy_app_map_get(app, "/", hello);
	cr_expect_str_eq(outcome(app, KEYED("a")), "200 ");
	cr_expect_str_eq(outcome(app, KEYED("a")), "200 ");
	cr_expect_str_eq(outcome(app, KEYED("a")), "429 3600");
	cr_expect_str_eq(outcome(app, KEYED("b")), "200 ");
	/* Who gives no key is known by his address. */
	cr_expect_str_eq(outcome(app, GET("/")), "200 ");
	cr_expect_str_eq(outcome(app, GET("/none")), "404 ");
	cr_expect_str_eq(outcome(app, GET("/")), "429 3600");
	eddy_app_free(app);
}

/* A key that is written like somebody's address is not his. */
Test(rate_limit, kinds_of_keys)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_rate_limit(
		app, &(struct eddy_rate_limit_options){
			     .count = 1, .per_ns = 3600 * EDDY_SECOND, .header = "x-api-key" });
	eddy_app_map_get(app, "/", hello);
	cr_expect_str_eq(outcome(app, KEYED("unknown")), "200 ");
	cr_expect_str_eq(outcome(app, GET("/")), "200 ");
	cr_expect_str_eq(outcome(app, GET("/")), "429 3600");
	eddy_app_free(app);
}

static struct eddy_str method_of(struct eddy_req *req)
{
	struct eddy_str method = eddy_req_method(req);

	return eddy_str_eq_z(method, "HEAD") ? EDDY_STR("") : method;
}

Test(rate_limit, by_function)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "/g");
	struct eddy_rate_limit_options options = { .count = 2,
						   .per_ns = 3600 * EDDY_SECOND,
						   .key = method_of };

	eddy_app_use_rate_limit(group, &options);
	eddy_app_map_get(group, "/x", hello);
	eddy_app_map_get(app, "/", hello);
	cr_expect_str_eq(outcome(app, GET("/g/x")), "200 ");
	cr_expect_str_eq(outcome(app, GET("/g/x")), "200 ");
	cr_expect_str_eq(outcome(app, GET("/g/x")), "429 1800");
	cr_expect_str_eq(outcome(app, GET("/")), "200 ");
	for (int i = 0; i < 4; i++)
		cr_expect_str_eq(outcome(app, "HEAD /g/x HTTP/1.1\n" HOST "\n"), "200 ");
	eddy_app_free(app);
}

static int status_by(struct eddy_app *app, int fd, const char *client)
{
	struct asked asked;
	char request[128];
	int status;

	snprintf(request, sizeof(request), "GET / HTTP/1.1\n" HOST "X-Forwarded-For: %s\n\n",
		 client);
	ask_by(&asked, app, fd, request);
	status = asked.status;
	ask_end(&asked);
	return status;
}

/* An IPv6 customer has a whole network of addresses. */
Test(rate_limit, by_address)
{
	static const char *const proxies[] = { "unix", NULL };
	struct eddy_app *app = eddy_app_new();
	int ends[2];

	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0));
	eddy_app_with_server(app, &(struct eddy_server_options){ .trusted_proxies = proxies,
								 .forwarded = EDDY_FORWARDED_X });
	eddy_app_use_rate_limit(eddy_app_map_get(app, "/", hello),
				&(struct eddy_rate_limit_options){ .count = 1,
								   .per_ns = 3600 * EDDY_SECOND });
	cr_expect(eq(int, status_by(app, ends[0], "2001:db8:0:1::1"), 200));
	cr_expect(eq(int, status_by(app, ends[0], "2001:db8:0:1:ffff::2"), 429));
	cr_expect(eq(int, status_by(app, ends[0], "2001:db8:0:2::1"), 200));
	cr_expect(eq(int, status_by(app, ends[0], "192.0.2.1"), 200));
	cr_expect(eq(int, status_by(app, ends[0], "192.0.2.1"), 429));
	cr_expect(eq(int, status_by(app, ends[0], "192.0.2.2"), 200));
	close(ends[0]);
	close(ends[1]);
	eddy_app_free(app);
}

Test(rate_limit, mistakes)
{
	static const struct eddy_rate_limit_options bad[] = {
		{ .count = 0 },
		{ .count = 10, .per_ns = 5 },
		{ .count = 1, .keys_max = UINT32_MAX },
		{ .count = 1, .per_ns = EDDY_NEVER },
		/* Past 64 bits of nanoseconds. */
		{ .count = 1, .per_ns = 364 * 86400 * EDDY_SECOND, .burst = 587 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct eddy_app *app = eddy_app_new();

		eddy_app_use_rate_limit(app, &bad[i]);
		cr_expect(eddyi_app_report_mistakes(app), "%zu", i);
		eddy_app_free(app);
	}
}
