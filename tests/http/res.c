/* Tests of eddy/res.h. */
#include "ask.h"

#include <eddy/internal/http.h>

/* What the handler does is said by its route's data. */
typedef int step_fn(struct eddy_res *res);

static int handle(struct eddy_req *req, struct eddy_res *res)
{
	return ((step_fn *)eddy_req_route_data(req))(res);
}

static void answer(struct asked *asked, step_fn *step)
{
	struct eddy_app *app = eddy_app_new();

	eddy_route_with(eddy_app_map_get(app, "/", handle),
			&(struct eddy_route_options){ .data = step });
	ask(asked, app, GET("/"));
	/* Nothing of the app is looked at any more. */
	eddy_app_free(app);
}

static void expect_header(const struct asked *asked, const char *name, const char *want)
{
	struct eddy_str value = eddy_res_header(&asked->req->res, name);

	cr_expect(eddy_str_eq_z(value, want), "%s: %.*s, not %s", name, EDDY_FMT(value), want);
}

static int merge_all(struct eddy_res *res)
{
	static const char *const steps[][2] = {
		{ "vary", "accept-encoding" },
		{ "Vary", "Accept-Encoding, origin" },
		{ "vary", " , cookie,,origin" },
		{ "cache-control", "no-store" },
		{ "cache-control", "private=\"a, b\", max-age=5" },
		{ "cache-control", "private=\"a, b\", NO-STORE" },
		{ "allow", "" },
		{ "x-star", "*" },
		{ "x-star", "a" },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && r == 0; i++)
		r = eddy_res_merge(res, steps[i][0], eddy_str_from(steps[i][1]));
	return r;
}

Test(res, merges)
{
	struct asked asked;

	answer(&asked, merge_all);
	cr_expect(eq(int, asked.status, 200));
	expect_header(&asked, "vary", "accept-encoding, origin, cookie");
	expect_header(&asked, "cache-control", "no-store, private=\"a, b\", max-age=5");
	expect_header(&asked, "x-star", "*, a");
	cr_expect(eq(uint, asked.req->res.header_count, 4));
	ask_end(&asked);
}

/* What was added line by line becomes one. */
static int merge_lines(struct eddy_res *res)
{
	eddy_res_add(res, "vary", eddy_str_from("a"));
	eddy_res_set_z(res, "x-other", "1");
	eddy_res_add(res, "Vary", eddy_str_from("b, a"));
	return eddy_res_merge(res, "vary", eddy_str_from("c"));
}

static int merge_star(struct eddy_res *res)
{
	int r = eddy_res_merge(res, "vary", eddy_str_from("a"));

	if (r == 0)
		r = eddy_res_merge(res, "vary", eddy_str_from("*"));
	return r ? r : eddy_res_merge(res, "vary", eddy_str_from("b"));
}

static int merge_set_cookie(struct eddy_res *res)
{
	return eddy_res_merge(res, "Set-Cookie", eddy_str_from("a=1"));
}

static int merge_control(struct eddy_res *res)
{
	return eddy_res_merge(res, "vary", eddy_str_from("a\r\nx: y"));
}

static int merge_nothing(struct eddy_res *res)
{
	return eddy_res_merge(res, "vary", eddy_str(NULL, 0));
}

Test(res, merges_lines)
{
	struct asked asked;

	answer(&asked, merge_lines);
	expect_header(&asked, "vary", "a, b, c");
	cr_expect(eq(uint, asked.req->res.header_count, 2));
	ask_end(&asked);
	answer(&asked, merge_star);
	expect_header(&asked, "vary", "*");
	ask_end(&asked);
}

static void expect_status(step_fn *step, int want)
{
	struct asked asked;

	answer(&asked, step);
	cr_expect(eq(int, asked.status, want));
	ask_end(&asked);
}

Test(res, does_not_merge)
{
	expect_status(merge_set_cookie, 400);
	expect_status(merge_control, 400);
	expect_status(merge_nothing, 500);
}

static int set_control(struct eddy_res *res)
{
	static const char *const bad[] = { "a\rb", "a\nb", "a\x7f", "a\x01" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (eddy_res_set_z(res, "x", bad[i]) != -EINVAL)
			return 500;
	if (eddy_res_set(res, "x", EDDY_STR("a\0b")) != -EINVAL ||
	    eddy_res_set_z(res, "x y", "a") != -EINVAL || eddy_res_set_z(res, "", "a") != -EINVAL)
		return 500;
	return eddy_res_set_z(res, "x", "  a\tb  ");
}

Test(res, refuses_control_bytes)
{
	struct asked asked;

	answer(&asked, set_control);
	cr_expect(eq(int, asked.status, 200));
	expect_header(&asked, "x", "a\tb");
	ask_end(&asked);
}

static int no_content(struct eddy_res *res)
{
	eddy_res_ok(res, "a body");
	eddy_res_set_z(res, "etag", "\"v1\"");
	return eddy_res_no_content(res);
}

static int created(struct eddy_res *res)
{
	int r = eddy_res_created(res, eddy_str_from("/things/7?a=b#c"));

	return r ? r : eddy_res_ok(res, "made");
}

static int moved(struct eddy_res *res)
{
	return eddy_res_redirect(res, 308, eddy_str_from("https://example.org/"));
}

static int moved_nowhere(struct eddy_res *res)
{
	static const char *const bad[] = { "/a b", "/caf\xc3\xa9", "/a\r\nx: y", "/\x7f" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (eddy_res_redirect(res, 302, eddy_str_from(bad[i])) != -EINVAL)
			return 500;
	for (int status = 200; status < 600; status++)
		if ((eddy_res_redirect(res, status, eddy_str_from("/")) == 0) !=
		    (status == 301 || status == 302 || status == 303 || status == 307 ||
		     status == 308))
			return 500;
	return 299;
}

Test(res, statuses)
{
	struct asked asked;

	answer(&asked, no_content);
	cr_expect(eq(int, asked.status, 204));
	cr_expect(eq(int, asked.req->res.kind, EDDYI_RES_EMPTY));
	expect_header(&asked, "etag", "\"v1\"");
	cr_expect(eddy_res_header(&asked.req->res, "content-type").ptr == NULL);
	ask_end(&asked);
	answer(&asked, created);
	cr_expect(eq(int, asked.status, 201));
	expect_header(&asked, "location", "/things/7?a=b#c");
	cr_expect_str_eq(asked.text, "made");
	ask_end(&asked);
	answer(&asked, moved);
	cr_expect(eq(int, asked.status, 308));
	expect_header(&asked, "location", "https://example.org/");
	ask_end(&asked);
	expect_status(moved_nowhere, 299);
}

static int strange_status(struct eddy_res *res)
{
	eddy_res_status(res, 199);
	return eddy_res_ok(res, "x");
}

static int strange_problem(struct eddy_res *res)
{
	return eddy_res_problem(res, 600, "odd");
}

Test(res, status_out_of_range)
{
	expect_status(strange_status, 500);
	expect_status(strange_problem, 500);
}

static int tell(struct eddy_res *res)
{
	bool has = eddy_res_set_z(res, "cache-control", "private, No-Transform") == 0 &&
		   eddy_res_add(res, "cache-control", EDDY_STR("max-age=60")) == 0 &&
		   eddy_res_has(res, "Cache-Control", "no-transform") &&
		   eddy_res_has(res, "cache-control", "max-age=60");

	if (eddy_res_has(res, "cache-control", "no-trans") ||
	    eddy_res_has(res, "vary", "no-transform"))
		return 500;
	eddy_res_remove(res, "CACHE-control");
	return has && !eddy_res_header(res, "cache-control").ptr ? 204 : 500;
}

Test(res, tells_what_a_list_has_and_takes_fields_out)
{
	struct asked asked;

	answer(&asked, tell);
	cr_assert(eq(int, asked.status, 204));
	ask_end(&asked);
}

Test(res, may_set_all_but_what_the_server_writes)
{
	static const char *const refused[] = { "",     "a b",    "a:",         "Content-Length",
					       "date", "Server", "connection", "transfer-encoding" };

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		cr_expect(not(eddyi_res_may_set(refused[i])), "%s", refused[i]);
	cr_expect(eddyi_res_may_set("x-id") && eddyi_res_may_set("dat"));
}
