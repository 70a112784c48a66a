/* Tests of eddy/req.h. */
#include "ask.h"

static int join(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str list = eddy_req_header_joined(req, "x-list");
	struct eddy_str one = eddy_req_header_joined(req, "x-one");

	if (eddy_req_header_joined(req, "x-none").ptr)
		return 500;
	return eddy_res_ok(res, "%.*s|%.*s", EDDY_FMT(list), EDDY_FMT(one));
}

Test(req, joins_fields_of_one_name)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/", join);
	EXPECT_ANSWER(app,
		      "GET / HTTP/1.1\n" HOST "X-List: 1, 2\nX-One:  a b \nx-list:\nX-LIST: 3\n\n",
		      "200 1, 2, , 3|a b");
	eddy_app_free(app);
}

static int copy(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str inside = eddy_str("a\0b", 3);
	char *head = eddy_req_strdup(req, eddy_str_skip(eddy_req_header(req, "x-one"), 1));
	char *none = eddy_req_strdup(req, eddy_req_header(req, "x-none"));
	char *empty = eddy_req_strdup(req, EDDY_STR(""));
	char *nul = eddy_req_strdup(req, inside);

	if (none || !head || !empty || !nul || memcmp(nul, "a\0b", 4) != 0)
		return 500;
	/* Writing to the copy leaves the field as it is. */
	head[0] = 'B';
	return eddy_res_ok(res, "%s|%s|%.*s", head, empty, EDDY_FMT(eddy_req_header(req, "x-one")));
}

static int greet_by_basic(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str text;
	int r = eddy_req_basic(req, &text);

	return r < 0 ? eddy_res_ok(res, "%d", -r) : eddy_res_ok(res, "%.*s", EDDY_FMT(text));
}

Test(req, credentials_of_basic)
{
	static const char *const fields[][2] = {
		{ "Basic YTpi", "a:b" },
		{ "basic  YTpi ", "a:b" },
		{ "Basic YTo", NULL },
		{ "Basic YTp=", NULL },
		{ "Basic YTp*", NULL },
		{ "Basic", NULL },
		{ "BasicYTpi", NULL },
		{ "Bearer YTpi", NULL },
		{ "Basic YTpi\nAuthorization: Basic YTpi", NULL },
	};
	struct eddy_app *app = eddy_app_new();
	char text[128], answer[32];

	eddy_app_map_get(app, "/", greet_by_basic);
	EXPECT_ANSWER(app, "GET / HTTP/1.1\nHost: h\n\n", "200 2");
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		snprintf(text, sizeof(text), "GET / HTTP/1.1\nHost: h\nAuthorization: %s\n\n",
			 fields[i][0]);
		snprintf(answer, sizeof(answer), "200 %s", fields[i][1] ? fields[i][1] : "22");
		EXPECT_ANSWER(app, text, answer);
	}
	eddy_app_free(app);
}

Test(req, copies_strings_for_calls_of_c)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/", copy);
	EXPECT_ANSWER(app, "GET / HTTP/1.1\n" HOST "X-One: abc\n\n", "200 Bc||abc");
	eddy_app_free(app);
}

static int escape(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str plain = eddy_req_escape(req, EDDY_STR("aZ09-._~"));
	struct eddy_str others = eddy_req_escape(req, EDDY_STR(" /?#%+:\xc3\xbc\x01"));
	struct eddy_str empty = eddy_req_escape(req, EDDY_STR(""));

	return eddy_res_ok(res, "%.*s|%s|%zu", EDDY_FMT(plain), others.ptr, empty.len);
}

Test(req, escapes_a_segment)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/", escape);
	EXPECT_ANSWER(app, "GET / HTTP/1.1\n" HOST "\n",
		      "200 aZ09-._~|%20%2F%3F%23%25%2B%3A%C3%BC%01|0");
	eddy_app_free(app);
}
