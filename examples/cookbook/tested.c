/* tested: test handlers with their routes and filters, without a socket.
 *
 *     $ tested
 *     ok - GET /double/21 is a 200
 *     ok - GET /double/many is a 400
 *     ok - GET /double/21 is a 401
 *     ok - GET /triple/21 is a 404
 */
#include <eddy/http.h>
#include <eddy/test.h>
#include <stdio.h>

static int double_it(struct eddy_req *req, struct eddy_res *res)
{
	int32_t number;

	if (eddy_req_path(req, EDDY_TO(&number)) < 0)
		return 400;
	return eddy_res_ok(res, "%lld", 2 * (long long)number);
}

static int only_members(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	return eddy_req_header(req, "x-member").ptr ? eddy_next(next, req, res) : 401;
}

/* The app that the program's main() also runs. */
static struct eddy_app *make_app(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_add_filter(eddy_app_map_get(app, "/double/{number}", double_it), only_members,
			    NULL);
	return app;
}

/* Return: whether the response is as expected; a `body` of NULL matches any. */
static bool check(struct eddy_app *app, const char *line, bool member, int status, const char *body)
{
	const struct eddy_header headers[] = { { member ? "x-member" : "x-guest", "yes" }, { 0 } };
	struct eddy_response *response;
	struct eddy_str got;
	bool ok;

	if (eddy_app_test(app, line, &(struct eddy_client_request){ .headers = headers },
			  &response) < 0)
		return false;
	ok = eddy_response_status(response) == status && eddy_response_body(response, &got) == 0 &&
	     (!body || eddy_str_eq_z(got, body));
	printf("%s - %s is a %d\n", ok ? "ok" : "not ok", line, eddy_response_status(response));
	eddy_response_free(response);
	return ok;
}

int main(void)
{
	struct eddy_app *app = make_app();
	bool ok = check(app, "GET /double/21", true, 200, "42");

	ok &= check(app, "GET /double/many", true, 400, NULL);
	ok &= check(app, "GET /double/21", false, 401, NULL);
	ok &= check(app, "GET /triple/21", true, 404, NULL);
	eddy_app_free(app);
	return ok ? 0 : 1;
}
