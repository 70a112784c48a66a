/* Tests of challenge.h. */
#include "guard/challenge.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/test.h>

static struct eddyi_challenge said;

static int refuse(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddyi_challenge_set(&said, req, res);

	return r < 0 ? r : 401;
}

static void expect_said(const char *expected)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_response *response;
	struct eddy_str value;

	eddy_app_map_get(app, "/", refuse);
	cr_assert(zero(eddy_app_test(app, "GET /", NULL, &response)));
	value = eddy_response_header(response, "www-authenticate");
	if (expected) {
		cr_assert(eq(int, eddy_response_status(response), 401));
		cr_expect(eddy_str_eq_z(value, expected), "%.*s", EDDY_FMT(value));
	} else {
		cr_assert(eq(int, eddy_response_status(response), 400));
		cr_expect(eq(ptr, (void *)value.ptr, NULL));
	}
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(challenge, has_what_is_known_in_its_order)
{
	said = (struct eddyi_challenge){ 0 };
	expect_said("Bearer");
	said.resource_metadata = "https://api.example/.well-known/oauth-protected-resource";
	expect_said(
		"Bearer resource_metadata=\"https://api.example/.well-known/oauth-protected-resource\"");
	said.realm = "shop";
	said.error = "insufficient_scope";
	said.description = "no";
	said.scope = "read write";
	said.resource_metadata = "u";
	expect_said(
		"Bearer realm=\"shop\", error=\"insufficient_scope\", error_description=\"no\", "
		"scope=\"read write\", resource_metadata=\"u\"");
}

Test(challenge, quotes_what_must_be)
{
	said = (struct eddyi_challenge){ .realm = "a \"b\" \\c, d=e" };
	expect_said("Bearer realm=\"a \\\"b\\\" \\\\c, d=e\"");
	said.realm = "";
	expect_said("Bearer realm=\"\"");
	said.realm = "\"\"\"\"\"\"\"\"\\\\\\\\";
	expect_said("Bearer realm=\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\\\\\\\\\\\\\\\"");
}

Test(challenge, sends_no_control_bytes)
{
	said = (struct eddyi_challenge){ .realm = "a\r\nset-cookie: b" };
	expect_said(NULL);
}
