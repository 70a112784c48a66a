/* Tests of http/src/exchange/exchange.h, over a stream that writes down what is sent. */
#include "exchange/exchange.h"

#include "http1/request_head.h"
#include "said.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What the stream was told, one call after the other. */
static char sent[1024];
static int send_fails; /* the error of all sends of the body; 0: none */

static void note(const char *format, ...)
{
	size_t len = strlen(sent);
	va_list args;

	va_start(args, format);
	vsnprintf(sent + len, sizeof(sent) - len, format, args);
	va_end(args);
}

static void send_head(struct eddy_req *req, uint64_t length)
{
	if (length == EDDY_LENGTH_UNKNOWN)
		note("%d; ", req->res.status);
	else
		note("%d of %ju; ", req->res.status, (uintmax_t)length);
}

static int send_some(struct eddy_req *req, struct eddy_str bytes, bool last)
{
	(void)req;
	note("%.*s%s; ", EDDY_FMT(bytes), last ? "." : "");
	return send_fails;
}

static void cut(struct eddy_req *req)
{
	(void)req;
	note("cut");
}

static int interim(struct eddy_req *req, int status, const struct eddy_header *fields)
{
	(void)req;
	note("interim %d", status);
	for (; fields && fields->name; fields++)
		note(" %s=%s", fields->name, fields->value);
	note("; ");
	return 0;
}

static const struct eddyi_stream_verbs verbs = {
	.interim = interim,
	.send_head = send_head,
	.send = send_some,
	.cut = cut,
};

/* ---- handlers ---- */

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

static int stream(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_write(res, "one", 3) < 0 || eddy_res_write(res, "two", 3) < 0 ? -EPIPE : 0;
}

static int stream_badly(struct eddy_req *req, struct eddy_res *res)
{
	stream(req, res);
	return -EIO;
}

static const struct eddy_header links[] = { { "link", "</a.css>; rel=preload" }, { 0 } };

static int hint(struct eddy_req *req, struct eddy_res *res)
{
	static const struct eddy_header own[] = { { "content-length", "3" }, { 0 } };
	static const struct eddy_header torn[] = { { "link", "a\r\nb: c" }, { 0 } };

	(void)req;
	cr_expect_eq(eddy_res_interim(res, 103, links), 0);
	cr_expect_eq(eddy_res_interim(res, 102, NULL), 0);
	cr_expect_eq(eddy_res_interim(res, 100, NULL), -EINVAL);
	cr_expect_eq(eddy_res_interim(res, 101, NULL), -EINVAL);
	cr_expect_eq(eddy_res_interim(res, 200, NULL), -EINVAL);
	cr_expect_eq(eddy_res_interim(res, 103, own), -EINVAL);
	cr_expect_eq(eddy_res_interim(res, 103, torn), -EINVAL);
	eddy_res_write(res, "one", 3);
	return eddy_res_interim(res, 103, links);
}

/* Announce the number in the path, and write six bytes, unless the path says otherwise. */
static int announced(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t length;
	struct eddy_str how;
	int r = eddy_req_path(req, EDDY_TO(&length), EDDY_TO(&how));

	if (r == 0)
		r = eddy_res_announce(res, length);
	if (r < 0 || eddy_str_eq_z(how, "nothing"))
		return r;
	if (eddy_str_eq_z(how, "other"))
		return eddy_res_ok(res, "hello");
	r = stream(req, res);
	if (!eddy_str_eq_z(how, "late"))
		return r;
	cr_expect_eq(eddy_res_announce(res, 1), -EINVAL);
	return eddy_res_ok(res, "hello");
}

static int wait_for_body(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	eddyi_exchange_expire(req);
	return eddy_sleep(EDDY_SECOND);
}

static int expire_within(struct eddy_req *req, struct eddy_res *res)
{
	eddy_res_write(res, "one", 3);
	eddyi_exchange_expire(req);
	return eddy_sleep(EDDY_SECOND);
}

static int be_cut(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	eddyi_exchange_cut(req);
	return eddy_sleep(EDDY_SECOND);
}

static int be_left(struct eddy_req *req, struct eddy_res *res)
{
	int r;

	(void)res;
	eddyi_exchange_leave(req);
	r = eddy_sleep(EDDY_SECOND);
	cr_expect_eq(r, -ECANCELED);
	return r;
}

/* ---- exchanges ---- */

struct asked {
	const char *request;
	bool whole;
};

static int exchange(void *arg)
{
	struct asked *asked = arg;
	struct eddy_app *app = eddy_app_new();
	struct eddyi_service service;
	struct eddyi_stream over = { .verbs = &verbs, .service = &service, .number = -1 };
	struct eddyi_request_head head;
	struct eddyi_body body = { .max = UINT64_MAX, .ended = true };
	struct eddy_req *req;
	char bytes[256];
	size_t used;
	int len = snprintf(bytes, sizeof(bytes), "%s HTTP/1.1\r\nhost: x\r\n\r\n", asked->request);

	eddyi_service_init(&service);
	eddy_app_map_get(app, "/hello", hello);
	eddy_app_map_get(app, "/hint", hint);
	eddy_app_map_get(app, "/stream", stream);
	eddy_app_map_get(app, "/stream_badly", stream_badly);
	eddy_app_map_get(app, "/announced/{length}/{how}", announced);
	eddy_app_map_get(app, "/wait_for_body", wait_for_body);
	eddy_app_map_get(app, "/expire_within", expire_within);
	eddy_app_map_get(app, "/be_cut", be_cut);
	eddy_app_map_get(app, "/be_left", be_left);
	req = eddyi_req_new(app, &over, sizeof(*req));
	cr_assert(req != NULL);
	eddyi_request_head_init(&head, &req->head, &app->head_limits);
	cr_assert_eq(eddyi_request_head_feed(&head, bytes, (size_t)len, &used), 200);
	*sent = 0;
	asked->whole = eddyi_exchange(req, &body);
	eddyi_req_free(req);
	eddyi_service_deinit(&service);
	eddy_app_free(app);
	return 0;
}

static void expect(const char *request, bool whole, const char *want)
{
	struct asked asked = { .request = request };

	cr_assert_eq(eddy_run(NULL, exchange, &asked), 0);
	cr_expect_str_eq(sent, want, "%s: sent %s, not %s", request, sent, want);
	cr_expect_eq(asked.whole, whole, "%s", request);
}

/* Expect a problem as the response, whatever its text. */
static void expect_problem(const char *request, int status)
{
	struct asked asked = { .request = request };
	char want[32];

	cr_assert_eq(eddy_run(NULL, exchange, &asked), 0);
	snprintf(want, sizeof(want), "\"status\":%d", status);
	cr_expect(strtol(sent, NULL, 10) == status, "%s: sent %s", request, sent);
	cr_expect(strstr(sent, want) != NULL, "%s: sent %s", request, sent);
	cr_expect(strstr(sent, "cut") == NULL, "%s: sent %s", request, sent);
	cr_expect(asked.whole);
}

Test(exchange, sends_a_head_and_a_body)
{
	expect("GET /hello", true, "200 of 5; hello.; ");
	expect("HEAD /hello", true, "200 of 5; .; ");
	expect_problem("GET /nowhere", 404);
	expect_problem("DELETE /hello", 405);
}

Test(exchange, sends_a_stream)
{
	expect("GET /stream", true, "200; one; two; .; ");
	/* A handler that writes is stopped where there is no body. */
	expect("HEAD /stream", true, "200; ; .; ");
}

Test(exchange, sends_interim_responses_before_the_head)
{
	expect("GET /hint", true,
	       "interim 103 link=</a.css>; rel=preload; interim 102; 200; one; .; ");
}

Test(exchange, announces_the_length_of_a_stream)
{
	expect("GET /announced/6/whole", true, "200 of 6; one; two; .; ");
	expect("HEAD /announced/6/whole", true, "200 of 6; ; .; ");
	expect("GET /announced/0/nothing", true, "200 of 0; .; ");
	expect("HEAD /announced/7/nothing", true, "200 of 7; .; ");
	expect("GET /announced/7/other", true, "200 of 5; hello.; ");
}

/* Expect one record for a response of another length than was announced. */
static void expect_broken(const char *request, const char *want_sent, const char *want_said)
{
	said_begin();
	if (want_sent)
		expect(request, false, want_sent);
	else
		expect_problem(request, 500);
	said_end();
	cr_expect(strstr(said, want_said) == said, "%s: %s", request, said);
	/* An error response has a record of its own. */
	cr_expect_eq(strchr(said, '\n') == said + strlen(said) - 1, want_sent != NULL, "%s", said);
}

Test(exchange, cuts_a_stream_of_another_length)
{
	expect_broken("GET /announced/7/whole", "200 of 7; one; two; cut",
		      "GET /announced/7/whole has announced 7 bytes, but writes 6\n");
	expect_broken("GET /announced/5/whole", "200 of 5; one; cut",
		      "GET /announced/5/whole has announced 5 bytes, but writes 6\n");
	expect_broken("GET /announced/7/late", "200 of 7; one; two; cut",
		      "GET /announced/7/late has announced 7 bytes, but writes 6\n");
	/* Nothing has been sent. */
	expect_broken("GET /announced/2/whole", NULL,
		      "GET /announced/2/whole has announced 2 bytes, but writes 3\n");
	expect_broken("GET /announced/7/nothing", NULL,
		      "GET /announced/7/nothing has announced 7 bytes, but writes 0\n");
}

Test(exchange, cuts_what_is_not_complete)
{
	expect("GET /stream_badly", false, "200; one; two; cut");
	send_fails = -ECONNRESET;
	expect("GET /hello", false, "200 of 5; hello.; cut");
	expect("GET /stream", false, "200; one; cut");
}

Test(exchange, that_times_out_is_answered)
{
	expect_problem("GET /wait_for_body", 408);
	expect("GET /expire_within", false, "200; one; cut");
}

Test(exchange, that_is_cut_has_no_answer)
{
	expect("GET /be_cut", false, "cut");
}

Test(exchange, of_a_client_that_has_left_ends)
{
	expect_problem("GET /be_left", 499);
}
