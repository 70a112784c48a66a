/* Tests of eddy/group.h. */
#include "ask.h"

static char trail[256];
static char said[1024];

static int note(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	strcat(trail, eddy_next_data(next));
	return eddy_next(next, req, res);
}

static int path(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str id = EDDY_STR("");

	eddy_req_param(req, "id", &id);
	return eddy_res_ok(res, "%.*s", EDDY_FMT(id));
}

static int fallback(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "fallback");
}

static struct eddy_group *group_of(struct eddy_group *group, const char *mark)
{
	eddy_app_add_filter(group, note, (void *)mark);
	return group;
}

#define EXPECT_TRAIL(app, request, want)                                                           \
	do {                                                                                       \
		struct asked asked_;                                                               \
		char got_[300];                                                                    \
                                                                                                   \
		trail[0] = 0;                                                                      \
		ask(&asked_, app, request);                                                        \
		snprintf(got_, sizeof(got_), "%d %s", asked_.status, trail);                       \
		cr_expect_str_eq(got_, want, "%s: got %s, not %s", request, got_, want);           \
		ask_end(&asked_);                                                                  \
	} while (0)

Test(group, prefixes)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *users = eddy_app_group(app, "/users/{id}/");

	eddy_app_map_get(users, "", path);
	eddy_app_map_get(eddy_app_group(users, ""), "/posts", path);
	eddy_app_map_get(eddy_app_group(users, "/a/b"), "/c", path);
	eddy_app_map(eddy_app_group(app, ""), "GET", "/{id}", path);
	cr_expect(not(eddyi_app_report_mistakes(app)));
	EXPECT_ANSWER(app, GET("/users/7"), "200 7");
	EXPECT_ANSWER(app, GET("/users/8/"), "200 8");
	EXPECT_ANSWER(app, GET("/users/9/posts"), "200 9");
	EXPECT_ANSWER(app, GET("/users/9/a/b/c"), "200 9");
	EXPECT_ANSWER(app, GET("/other"), "200 other");
	eddy_app_free(app);
}

/* What no route answers passes the filters of the group that it is beneath. */
Test(group, filters_without_a_route)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *api = group_of(eddy_app_group(app, "/api"), "a");
	struct eddy_group *deep = group_of(eddy_app_group(api, "/deep"), "d");

	eddy_app_add_filter(app, note, "*");
	group_of(eddy_app_group(app, ""), "e");
	group_of(eddy_app_group(app, "/api"), "2");
	group_of(eddy_app_group(app, "/{any}/deep"), "p");
	eddy_app_map_get(api, "/x", path);
	eddy_app_map_get(deep, "/x", path);
	eddy_app_map_get(app, "/api/y", path);
	EXPECT_TRAIL(app, GET("/api/x"), "200 *a");
	EXPECT_TRAIL(app, GET("/api/deep/x"), "200 *ad");
	EXPECT_TRAIL(app, GET("/api/y"), "200 *");
	EXPECT_TRAIL(app, GET("/api/none"), "404 *a");
	EXPECT_TRAIL(app, GET("/api"), "404 *a");
	EXPECT_TRAIL(app, GET("/apis"), "404 *");
	EXPECT_TRAIL(app, GET("/"), "404 *");
	EXPECT_TRAIL(app, GET("/api/deep/none/at/all"), "404 *ad");
	EXPECT_TRAIL(app, GET("/other/deep/none"), "404 *p");
	EXPECT_TRAIL(app, "POST /api/deep/x HTTP/1.1\n" HOST "\n", "405 *ad");
	EXPECT_TRAIL(app, "OPTIONS /api/x HTTP/1.1\n" HOST "\n", "204 *a");
	/* These lie beneath nothing. */
	EXPECT_TRAIL(app, GET("/api/%zz"), "400 *");
	EXPECT_TRAIL(app, "OPTIONS * HTTP/1.1\n" HOST "\n", "204 *");
	EXPECT_TRAIL(app, "GET /api/x HTTP/1.1\n\n", "400 *");
	eddy_app_map_fallback(app, fallback);
	EXPECT_TRAIL(app, GET("/api/none"), "200 *a");
	eddy_app_free(app);
}

static int note_plainly(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	strcat(trail, eddy_next_data(next) ? "?" : "-");
	return eddy_next(next, req, res);
}

/* A filter without data takes its turn, in this group and what is within it. */
Test(group, filters_without_data)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *api = group_of(eddy_app_group(app, "/api"), "a");

	eddy_app_add_filter(api, note_plainly, NULL);
	group_of(api, "b");
	eddy_app_map_get(api, "/x", path);
	eddy_app_map_get(eddy_app_group(api, "/deep"), "/x", path);
	eddy_app_map_get(app, "/x", path);
	EXPECT_TRAIL(app, GET("/api/x"), "200 a-b");
	EXPECT_TRAIL(app, GET("/api/deep/x"), "200 a-b");
	EXPECT_TRAIL(app, GET("/x"), "200 ");
	eddy_app_free(app);
}

static void hear(const struct eddy_record *record, void *arg)
{
	(void)arg;
	strncat(strncat(said, record->message.ptr, record->message.len), "\n", 2);
}

/* Each is said once; what is in a bad group is not repeated. */
Test(group, mistakes)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "api");

	eddy_app_map_get(group, "/x", path);
	eddy_app_add_filter(eddy_app_group(group, "/y"), note, "");
	eddy_app_group(app, "/files/{path...}");
	group = eddy_app_group(app, "/{id}");
	eddy_app_map_get(group, "/{id}", path);
	eddy_app_map_get(group, "x{", path);
	eddy_app_map_get(group, "/y", NULL);
	eddy_app_map(group, "BREW", "/z", path);
	eddy_app_map_get(group, "/z", path);
	eddy_app_map_get(app, "/{other}/z", path);
	eddy_log_subscribe(hear, NULL);
	cr_expect(eddyi_app_report_mistakes(app));
	eddy_log_unsubscribe();
	cr_expect_str_eq(
		said,
		"can't make the group \"api\": a pattern begins with /\n"
		"can't make the group \"/files/{path...}\": {name...} is not allowed in a group's "
		"prefix\n"
		"can't map GET \"/{id}/{id}\": two parameters have the same name\n"
		"can't map GET \"/{id}x{\": a parameter must be a whole segment, /{name}/: check "
		"and cut off the rest of it in the handler\n"
		"can't map GET \"/{id}/y\": the handler is NULL\n"
		"can't map BREW \"/{id}/z\": the method is unknown\n"
		"can't map GET \"/{other}/z\": it conflicts with the route GET \"/{id}/z\": "
		"parameter names and a trailing slash make no difference\n");
	eddy_app_free(app);
}
