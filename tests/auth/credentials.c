/* Tests of credentials.h. */
#include "guard/credentials.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/test.h>

static int read_them(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str token = { NULL, 0 };
	static const char *const names[] = {
		[EDDYI_CREDENTIALS_NONE] = "none",
		[EDDYI_CREDENTIALS_INVALID] = "invalid",
		[EDDYI_CREDENTIALS_TWICE] = "twice",
		[EDDYI_CREDENTIALS_UNSAFE] = "unsafe",
	};
	int found = eddyi_credentials_read(req, eddy_req_context(req), &token);

	if (found < 0)
		return found;
	if (found != EDDYI_CREDENTIALS_BEARER)
		return eddy_res_ok(res, "%s", names[found]);
	return eddy_res_ok(res, "[%.*s]", EDDY_FMT(token));
}

static void expect_read(const char *cookie, const char *line, const char *const *fields,
			const char *expected)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_header headers[4] = { 0 };
	struct eddy_response *response;
	struct eddy_str body;

	for (size_t i = 0; fields[i]; i += 2)
		headers[i / 2] = (struct eddy_header){ fields[i], fields[i + 1] };
	eddy_app_set_context(app, (void *)cookie);
	eddy_app_map_get(app, "/", read_them);
	eddy_app_map_post(app, "/", read_them);
	eddy_app_map_put(app, "/", read_them);
	eddy_app_map_delete(app, "/", read_them);
	cr_assert(zero(eddy_app_test(app, line, &(struct eddy_client_request){ .headers = headers },
				     &response)));
	cr_assert(eq(int, eddy_response_status(response), 200));
	cr_assert(zero(eddy_response_body(response, &body)));
	cr_expect(eddy_str_eq_z(body, expected), "%s: %.*s", fields[0] ? fields[1] : "nothing",
		  EDDY_FMT(body));
	eddy_response_free(response);
	eddy_app_free(app);
}

#define EXPECT(expected, ...)                                                                      \
	expect_read(NULL, "GET /", (const char *const[]){ __VA_ARGS__ }, expected)
/* With the cookie "id". */
#define EXPECT_ID(line, expected, ...)                                                             \
	expect_read("id", line, (const char *const[]){ __VA_ARGS__ }, expected)

Test(credentials, are_one_token)
{
	EXPECT("[abc]", "authorization", "Bearer abc", NULL);
	EXPECT("[abc]", "AUTHORIZATION", "bEARER abc", NULL);
	EXPECT("[abc]", "authorization", "Bearer   abc", NULL);
	EXPECT("[aZ09-._~+/]", "authorization", "Bearer aZ09-._~+/", NULL);
	EXPECT("[abc==]", "authorization", "Bearer abc==", NULL);
	EXPECT("[a.b.c]", "accept", "text/html", "authorization", "Bearer a.b.c", NULL);
}

Test(credentials, of_other_schemes_are_none)
{
	EXPECT("none", NULL);
	EXPECT("none", "authorization", "", NULL);
	EXPECT("none", "authorization", "Basic YTpi", NULL);
	EXPECT("none", "authorization", "Bearer2 abc", NULL);
	EXPECT("none", "authorization", "Bear abc", NULL);
	EXPECT("none", "authorization", "Bearer,abc", NULL);
	EXPECT("none", "x-authorization", "Bearer abc", NULL);
}

Test(credentials, that_are_no_token_are_invalid)
{
	EXPECT("invalid", "authorization", "Bearer", NULL);
	EXPECT("invalid", "authorization", "Bearer a b", NULL);
	EXPECT("invalid", "authorization", "Bearer a,b", NULL);
	EXPECT("invalid", "authorization", "Bearer =", NULL);
	EXPECT("invalid", "authorization", "Bearer a=b", NULL);
	EXPECT("invalid", "authorization", "Bearer \"abc\"", NULL);
	EXPECT("invalid", "authorization", "Bearer a\xc3\xa4", NULL);
	EXPECT("invalid", "authorization", "Bearer abc, Bearer def", NULL);
}

Test(credentials, in_two_fields_are_invalid)
{
	EXPECT("invalid", "authorization", "Bearer abc", "authorization", "Bearer abc", NULL);
	EXPECT("invalid", "authorization", "Basic YTpi", "authorization", "Bearer abc", NULL);
}

Test(credentials, of_a_cookie_count_where_one_is_named)
{
	EXPECT("none", "cookie", "id=abc", NULL);
	EXPECT_ID("GET /", "[abc]", "cookie", "id=abc", NULL);
	EXPECT_ID("GET /", "[abc]", "cookie", "a=1; id=abc; b=2", NULL);
	EXPECT_ID("GET /", "[abc]", "cookie", "a=1", "cookie", "id=\"abc\"", NULL);
	EXPECT_ID("GET /", "[a b]", "cookie", "id=a b", NULL);
	EXPECT_ID("GET /", "none", NULL);
	EXPECT_ID("GET /", "none", "cookie", "id=", NULL);
	EXPECT_ID("GET /", "none", "cookie", "ID=abc; idd=abc; id", NULL);
	EXPECT_ID("GET /", "[abc]", "authorization", "Bearer abc", NULL);
	/* The scheme of a proxy in between. */
	EXPECT_ID("GET /", "[abc]", "authorization", "Basic YTpi", "cookie", "id=abc", NULL);
}

Test(credentials, of_a_cookie_are_for_methods_that_change_nothing)
{
	static const char *const lines[] = { "POST /", "PUT /", "DELETE /" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		EXPECT_ID(lines[i], "unsafe", "cookie", "id=abc", NULL);
		EXPECT_ID(lines[i], "unsafe", "cookie", "id=abc; id=abc", NULL);
		EXPECT_ID(lines[i], "unsafe", "authorization", "Basic YTpi", "cookie", "id=abc",
			  NULL);
		EXPECT_ID(lines[i], "none", "cookie", "id=", NULL);
		EXPECT_ID(lines[i], "none", NULL);
		/* Browsers add the cookie to what a script sends. */
		EXPECT_ID(lines[i], "[abc]", "authorization", "Bearer abc", "cookie", "id=def",
			  NULL);
		EXPECT_ID(lines[i], "invalid", "authorization", "Bearer", "cookie", "id=def", NULL);
	}
}

Test(credentials, in_two_places_are_twice)
{
	EXPECT_ID("GET /", "twice", "authorization", "Bearer abc", "cookie", "id=abc", NULL);
	EXPECT_ID("GET /", "twice", "authorization", "Bearer abc", "cookie", "id=def", NULL);
	EXPECT_ID("GET /", "[abc]", "authorization", "Bearer abc", "cookie", "id=", NULL);
	EXPECT_ID("GET /", "twice", "cookie", "id=abc; id=abc", NULL);
	EXPECT_ID("GET /", "twice", "cookie", "id=; id=abc", NULL);
	EXPECT_ID("GET /", "twice", "cookie", "id=abc", "cookie", "id=def", NULL);
	EXPECT_ID("GET /", "invalid", "authorization", "Bearer", "cookie", "id=abc", NULL);
}
