/* Tests of eddy/res.h. */
#include "ask.h"

#include <eddy/internal/http.h>
#include <eddy/layer.h>
#include <eddy/loop.h>
#include <eddy/test.h>

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

/* ---- borrowed bytes ---- */

#define LARGE 100000

static int stack_few(struct eddy_req *req, struct eddy_res *res)
{
	char few[12];

	(void)req;
	memset(few, 'f', sizeof(few));
	return eddy_res_bytes(res, "text/plain", eddy_str(few, sizeof(few)));
}

static int stack_many(struct eddy_req *req, struct eddy_res *res)
{
	char many[LARGE];

	(void)req;
	memset(many, 'm', sizeof(many));
	return eddy_res_bytes(res, "text/plain", eddy_str(many, sizeof(many)));
}

static void set_on_loop_stack(void *arg)
{
	char loop[300];

	memset(loop, 'l', sizeof(loop));
	eddy_res_bytes(arg, "text/plain", eddy_str(loop, sizeof(loop)));
}

static int stack_of_loop(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_on_loop_stack(set_on_loop_stack, res);
	return 0;
}

static char kept[64] = "kept";

/* Bytes that are not on the stack are not copied. */
static int elsewhere(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_bytes(res, "text/plain", eddy_str_from(kept));

	(void)req;
	cr_assert(res->bytes.ptr == kept);
	return r;
}

static void overwrite_here(void *arg)
{
	volatile char bytes[16 * 1024];

	(void)arg;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = '!';
}

/* Overwrite the stack of the handler. */
static int overwrite(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_next(next, req, res);
	volatile char bytes[LARGE + 16 * 1024];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = '!';
	eddy_on_loop_stack(overwrite_here, NULL);
	return r;
}

static struct eddy_app *overwriting(const char *path, eddy_handler_fn *handler)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, path, handler);
	eddy_app_add_filter(app, overwrite, NULL);
	return app;
}

static void expect_run_of(eddy_handler_fn *handler, char byte, size_t count)
{
	struct eddy_app *app = overwriting("/", handler);
	struct eddy_response *response;
	struct eddy_str body;
	size_t same = 0;

	cr_assert(eq(int, eddy_app_test(app, "GET /", NULL, &response), 0));
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	cr_expect(eq(sz, body.len, count));
	while (same < body.len && body.ptr[same] == byte)
		same++;
	cr_expect(eq(sz, same, count));
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(res, copies_bytes_of_a_stack_that_is_gone)
{
	struct eddy_app *app = overwriting("/", elsewhere);
	struct eddy_response *response;
	struct eddy_str body;

	expect_run_of(stack_few, 'f', 12);
	expect_run_of(stack_many, 'm', LARGE);
	expect_run_of(stack_of_loop, 'l', 300);
	cr_assert(eq(int, eddy_app_test(app, "GET /", NULL, &response), 0));
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	cr_expect(eddy_str_eq_z(body, "kept"));
	eddy_response_free(response);
	eddy_app_free(app);
}

/* ---- records of handlers that fail ---- */

static char heard[1024];

/* Note a record as a line "LEVEL MESSAGE route=PATTERN". */
static void hear(const struct eddy_record *record, void *arg)
{
	struct eddy_str route = EDDY_STR("?");
	size_t len = strlen(heard);

	(void)arg;
	if (!eddy_str_eq_z(eddy_str_from(record->target), "eddy::http"))
		return;
	for (size_t i = 0; i < record->field_count; i++)
		if (strcmp(record->fields[i].name, "route") == 0)
			route = record->fields[i].value.str;
	snprintf(heard + len, sizeof(heard) - len, "%s %.*s route=%.*s\n",
		 record->level == EDDY_LOG_ERROR ? "ERROR" : "other", EDDY_FMT(record->message),
		 EDDY_FMT(route));
}

/* Begin a stream, and go on as the path parameter says. */
static int fail_late(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str how;
	json_t *json;
	int r = eddy_res_write(res, "half", 4);

	eddy_req_param(req, "how", &how);
	if (r < 0 && eddy_str_eq_z(eddy_req_method(req), "HEAD"))
		return 500;
	cr_assert(eq(int, r, 0));
	if (eddy_str_eq_z(how, "errno"))
		return -ENOENT;
	if (eddy_str_eq_z(how, "status"))
		return 500;
	if (eddy_str_eq_z(how, "none"))
		return 99;
	if (eddy_str_eq_z(how, "problem"))
		return eddy_res_problem(res, 503, "later");
	if (eddy_str_eq_z(how, "problem-ignored"))
		eddy_res_problem(res, 409, "later");
	if (eddy_str_eq_z(how, "error"))
		return eddy_res_error(res, 403, NULL);
	if (eddy_str_eq_z(how, "cancelled"))
		return -ECANCELED;
	if (eddy_str_eq_z(how, "json"))
		return eddy_req_json(req, &json);
	if (eddy_str_eq_z(how, "ok"))
		return eddy_res_ok(res, "too late");
	if (eddy_str_eq_z(how, "set"))
		eddy_res_status(res, 204);
	return eddy_str_eq_z(how, "created") ? 201 : 0;
}

static int pass_on(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	return eddy_next(next, req, res);
}

/* A filter that ignores errors. */
static int swallow(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	eddy_next(next, req, res);
	return 0;
}

/* Send a request, and note records. Return: "STATUS BODY", or "cut". */
static const char *ask_and_hear(struct eddy_app *app, const char *line,
				const struct eddy_client_request *request)
{
	static char got[100];
	struct eddy_response *response;
	struct eddy_str body = EDDY_STR("");
	int r;

	heard[0] = 0;
	eddy_log_subscribe(hear, NULL);
	eddy_log_set_filter("debug");
	r = eddy_app_test(app, line, request, &response);
	eddy_log_unsubscribe();
	if (r < 0)
		return "cut";
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	snprintf(got, sizeof(got), "%d %.*s", eddy_response_status(response), EDDY_FMT(body));
	eddy_response_free(response);
	return got;
}

#define EXPECT_LATE(how, got, said)                                                                \
	do {                                                                                       \
		cr_expect_str_eq(ask_and_hear(app, "GET /late/" how, NULL), got, how);             \
		cr_expect_str_eq(heard, said, how ": %s", heard);                                  \
	} while (0)
#define LATE(level, how, why)                                                                      \
	level " GET /late/" how " failed after its head was sent, so its body is cut short: " why  \
	      " route=/late/{how}\n"

static struct eddy_app *failing_late(eddy_filter_fn *filter)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/late/{how}", fail_late);
	eddy_app_map_post(app, "/late/{how}", fail_late);
	eddy_app_add_filter(app, filter, NULL);
	eddy_app_add_filter(app, pass_on, NULL);
	return app;
}

/* The client sees a truncated response, and one record names the route. */
static void fail_in_every_way(eddy_filter_fn *filter)
{
	struct eddy_app *app = failing_late(filter);

	EXPECT_LATE("errno", "cut", LATE("ERROR", "errno", "No such file or directory"));
	EXPECT_LATE("status", "cut", LATE("ERROR", "status", "status 500"));
	EXPECT_LATE("none", "cut", LATE("ERROR", "none", "status 99"));
	EXPECT_LATE("problem", "cut", LATE("ERROR", "problem", "status 503"));
	EXPECT_LATE("problem-ignored", "cut", LATE("ERROR", "problem-ignored", "status 409"));
	EXPECT_LATE("error", "cut", LATE("ERROR", "error", "status 403"));
	/* Not the program's fault. */
	EXPECT_LATE("cancelled", "cut", LATE("other", "cancelled", "Operation canceled"));
	/* Complete responses. */
	EXPECT_LATE("ok", "200 half", "");
	EXPECT_LATE("set", "200 half", "");
	EXPECT_LATE("created", "200 half", "");
	EXPECT_LATE("nothing", "200 half", "");
	eddy_app_free(app);
}

Test(res, cuts_what_fails_after_its_head)
{
	fail_in_every_way(pass_on);
}

Test(res, cuts_what_fails_after_its_head_whatever_filters_return)
{
	fail_in_every_way(swallow);
}

Test(res, is_whole_with_its_head_where_it_has_no_body)
{
	struct eddy_app *app = failing_late(pass_on);

	cr_expect_str_eq(ask_and_hear(app, "HEAD /late/status", NULL), "200 ");
	cr_expect_str_eq(heard, "");
	eddy_app_free(app);
}

/* A client must not be able to fill the log with ERROR records. */
Test(res, is_quiet_of_bodies_that_are_bad)
{
	struct eddy_app *app = failing_late(pass_on);
	const struct eddy_header headers[] = { { "content-type", "application/json" }, { 0 } };

	cr_expect_str_eq(ask_and_hear(app, "POST /late/json",
				      &(struct eddy_client_request){ .headers = headers,
								     .body = EDDY_STR("[1,") }),
			 "cut");
	cr_expect_str_eq(heard,
			 "other POST /late/json failed after its head was sent, so its body is cut "
			 "short: Bad message route=/late/{how}\n");
	eddy_app_free(app);
}

static int no_status(struct eddy_req *req, struct eddy_res *res)
{
	int number = 0;

	if (eddy_req_path(req, EDDY_TO(&number)) < 0)
		return 400;
	eddy_res_ok(res, "body");
	if (number < 0)
		eddy_res_status(res, -number);
	return number < 0 ? 0 : number;
}

Test(res, names_the_route_whose_handler_returns_no_status)
{
	static const int numbers[] = { 1, 12, 99, 199, 600, 1000, -99, -1000 };
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/no/{status}", no_status);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		char line[64], want[256];
		const char *got;

		snprintf(line, sizeof(line), "GET /no/%d", numbers[i]);
		snprintf(want, sizeof(want),
			 "ERROR GET /no/%d answers with %d, which is no status: return 0, 200 to "
			 "599, or -errno route=/no/{status}\n",
			 numbers[i], abs(numbers[i]));
		got = ask_and_hear(app, line, NULL);
		cr_expect(strncmp(got, "500 ", 4) == 0, "%s: %s", line, got);
		cr_expect_str_eq(heard, want, "%s", line);
	}
	cr_expect_str_eq(ask_and_hear(app, "GET /no/200", NULL), "200 body");
	cr_expect_str_eq(heard, "");
	eddy_app_free(app);
}
