/* Tests of eddy/same_origin.h. */
#include "ask.h"

#include <eddy/same_origin.h>

static int done(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "done");
}

static int status_of(struct eddy_app *app, const char *request)
{
	struct asked asked;
	int status;

	ask(&asked, app, request);
	status = asked.status;
	ask_end(&asked);
	return status;
}

#define ASK(method, host, fields) method " /x HTTP/1.1\nHost: " host "\n" fields "\n"

Test(same_origin, pages_elsewhere)
{
	static const struct {
		const char *request;
		int status;
	} cases[] = {
		{ ASK("PUT", "a.example", ""), 200 },
		{ ASK("PUT", "a.example", "Origin: https://a.example\n"), 200 },
		{ ASK("PUT", "a.example", "Origin: http://A.example\n"), 200 },
		{ ASK("PUT", "a.example:81", "Origin: http://a.example:81\n"), 200 },
		{ ASK("PUT", "a.example:81", "Origin: http://a.example\n"), 403 },
		{ ASK("PUT", "a.example", "Origin: https://b.example\n"), 403 },
		{ ASK("PUT", "a.example", "Origin: https://a.example.b\n"), 403 },
		{ ASK("PUT", "a.example", "Origin: null\n"), 403 },
		{ ASK("PUT", "a.example", "Origin:\n"), 403 },
		{ ASK("POST", "a.example", "Sec-Fetch-Site: cross-site\n"), 403 },
		{ ASK("POST", "a.example", "Sec-Fetch-Site: same-origin\n"), 200 },
		{ ASK("DELETE", "a.example", "Origin: https://b.example\n"), 403 },
		{ ASK("PATCH", "a.example", "Origin: https://b.example\n"), 403 },
		{ ASK("GET", "a.example", "Origin: https://b.example\n"), 200 },
		{ ASK("GET", "a.example", "Sec-Fetch-Site: cross-site\n"), 200 },
		{ ASK("OPTIONS", "a.example", "Origin: https://b.example\n"), 204 },
	};
	static const char *const methods[] = { "GET", "PUT", "POST", "DELETE", "PATCH" };
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_same_origin(app, NULL);
	for (size_t i = 0; i < 5; i++)
		eddy_app_map(app, methods[i], "/x", done);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect(eq(int, status_of(app, cases[i].request), cases[i].status), "%s",
			  cases[i].request);
	eddy_app_free(app);
}

Test(same_origin, of_a_group)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *api = eddy_app_group(app, "/x");

	eddy_app_use_same_origin(api, &(struct eddy_same_origin_options){ .local_only = true });
	eddy_app_map(api, "PUT", "", done);
	eddy_app_map(app, "PUT", "/y", done);
	cr_expect(eq(int, status_of(app, ASK("PUT", "localhost", "")), 200));
	cr_expect(eq(int, status_of(app, ASK("PUT", "localhost", "Origin: null\n")), 403));
	cr_expect(eq(int, status_of(app, ASK("PUT", "a.example", "")), 403));
	/* What is beside the group is not guarded. */
	cr_expect(
		eq(int, status_of(app, "PUT /y HTTP/1.1\nHost: a.example\nOrigin: null\n\n"), 200));
	eddy_app_free(app);
}

Test(same_origin, names_that_anybody_may_own)
{
	struct eddy_same_origin_options local = { .local_only = true };
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_same_origin(eddy_app_map_get(app, "/x", done), &local);
	cr_expect(eq(int, status_of(app, ASK("GET", "localhost:7878", "")), 200));
	cr_expect(eq(int, status_of(app, ASK("GET", "127.0.0.1", "")), 200));
	cr_expect(eq(int, status_of(app, ASK("GET", "[::1]:80", "")), 200));
	cr_expect(eq(int, status_of(app, ASK("GET", "10.1.2.3", "")), 200));
	cr_expect(eq(int, status_of(app, ASK("GET", "rebound.example", "")), 403));
	cr_expect(eq(int, status_of(app, ASK("GET", "localhost.evil.example", "")), 403));
	cr_expect(eq(int, status_of(app, "GET /x HTTP/1.0\n\n"), 200));
	eddy_app_free(app);
}
