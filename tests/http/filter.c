/* Tests of eddy/filter.h. */
#include "ask.h"

static char trail[256];

/* Say who was passed, on the way in and on the way out. */
static int note(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const char *name = eddy_next_data(next);
	int r;

	strcat(strcat(trail, "<"), name);
	r = eddy_next(next, req, res);
	strcat(strcat(trail, name), ">");
	return r;
}

static int anonymous(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	strcat(trail, eddy_next_data(next) ? "!" : "-");
	return eddy_next(next, req, res);
}

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	strcat(trail, "h");
	return eddy_res_ok(res, "hello");
}

static int deny(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	(void)next;
	(void)req;
	(void)res;
	return 403;
}

static int broken(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return -ENOENT;
}

/* Every filter finds the response made, whatever it was made of. */
static int see_status(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_next(next, req, res);
	struct eddy_str type = eddy_res_header(res, "content-type");

	sprintf(trail + strlen(trail), "[%d %d %s]", r, req->res.status,
		type.ptr ? strchr(type.ptr, '/') : "");
	return r;
}

/* Whatever order they were added in. */
Test(filter, order)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *outer = eddy_app_group(app, "/o"), *inner = eddy_app_group(outer, "/i");
	struct eddy_route *route = eddy_app_map_get(inner, "/x", hello);

	eddy_app_map_get(app, "/x", hello);
	eddy_app_add_filter(route, note, "r");
	eddy_app_add_filter(route, note, "s");
	eddy_app_add_filter(inner, note, "i");
	eddy_app_add_filter(outer, note, "o");
	eddy_app_add_filter(app, note, "a");
	eddy_app_add_filter(app, note, "b");
	eddy_app_add_filter(app, anonymous, NULL);
	EXPECT_ANSWER(app, GET("/o/i/x"), "200 hello");
	cr_expect_str_eq(trail, "<a<b-<o<i<r<shs>r>i>o>b>a>");
	trail[0] = 0;
	EXPECT_ANSWER(app, GET("/x"), "200 hello");
	cr_expect_str_eq(trail, "<a<b-hb>a>");
	cr_expect(not(eddyi_app_report_mistakes(app)));
	eddy_app_free(app);
}

Test(filter, sees_the_response)
{
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	eddy_app_add_filter(app, see_status, NULL);
	eddy_app_add_filter(eddy_app_map_get(app, "/denied", hello), deny, NULL);
	eddy_app_add_filter(eddy_app_map_get(app, "/broken", broken), see_status, NULL);
	ask(&asked, app, GET("/denied"));
	cr_expect(eq(int, asked.status, 403));
	cr_expect_str_eq(trail, "[0 403 /problem+json]");
	ask_end(&asked);
	trail[0] = 0;
	ask(&asked, app, GET("/broken"));
	cr_expect(eq(int, asked.status, 404));
	cr_expect_str_eq(trail, "[0 404 /problem+json][0 404 /problem+json]");
	ask_end(&asked);
	eddy_app_free(app);
}

static int look_inwards(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	strcat(trail, eddy_next_has(next, look_inwards) ? "+" : "-");
	strcat(trail, eddy_next_has(next, note) ? "n" : ".");
	return eddy_next(next, req, res);
}

Test(filter, knows_what_is_further_in)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "/g");
	struct eddy_route *route = eddy_app_map_get(group, "/x", hello);

	eddy_app_add_filter(app, look_inwards, NULL);
	eddy_app_add_filter(group, note, "g");
	eddy_app_add_filter(route, anonymous, NULL);
	eddy_app_add_filter(route, look_inwards, NULL);
	eddy_app_map_get(app, "/x", hello);
	EXPECT_ANSWER(app, GET("/g/x"), "200 hello");
	cr_expect_str_eq(trail, "+n<g--.hg>");
	trail[0] = 0;
	EXPECT_ANSWER(app, GET("/x"), "200 hello");
	cr_expect_str_eq(trail, "-.h");
	eddy_app_free(app);
}

Test(filter, null_is_a_mistake)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_add_filter(app, NULL, NULL);
	cr_expect(eddyi_app_report_mistakes(app));
	eddy_app_free(app);
}
