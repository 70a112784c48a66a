/* Tests of eddy/test.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/layer.h>
#include <eddy/log.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int order(struct eddy_req *req, struct eddy_res *res)
{
	unsigned id;

	if (eddy_req_path(req, EDDY_TO(&id)) < 0)
		return 400;
	return eddy_res_ok(res, "order %u of %.*s", id, EDDY_FMT(eddy_req_host(req)));
}

static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str type = eddy_req_header(req, "content-type"), body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_bytes(res, type.ptr ? type.ptr : "text/none", body);
}

static int stream(struct eddy_req *req, struct eddy_res *res)
{
	char bytes[1000];
	int r = 0;

	(void)req;
	memset(bytes, 'x', sizeof(bytes));
	for (int i = 0; i < 1000 && r == 0; i++)
		r = eddy_res_write(res, bytes, sizeof(bytes));
	return r;
}

static int broken(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_write(res, "half", 4);
	return -EIO;
}

static int file(struct eddy_req *req, struct eddy_res *res)
{
	static char bytes[300000];
	int fd = memfd_create("file", MFD_CLOEXEC);

	(void)req;
	memset(bytes, 'f', sizeof(bytes));
	if (write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
		return 500;
	return eddy_res_file(res, EDDY_STR("file.txt"), fd, NULL);
}

static int sleepy(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return eddy_sleep(1000 * EDDY_SECOND);
}

static int guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_req_header(req, "authorization").ptr ? eddy_next(next, req, res) : 401;

	eddy_res_set_z(res, "x-guarded", "yes");
	return r;
}

static struct eddy_app *make_app(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/orders/{id}", order);
	eddy_app_map_post(app, "/echo", echo);
	eddy_app_map_get(app, "/stream", stream);
	eddy_app_map_get(app, "/broken", broken);
	eddy_app_map_get(app, "/file", file);
	eddy_app_map_get(app, "/sleepy", sleepy);
	eddy_app_add_filter(eddy_app_map_get(app, "/guarded/{id}", order), guard, NULL);
	return app;
}

/* Ask, and write "STATUS BODY". */
static int ask(struct eddy_app *app, const char *line, const struct eddy_client_request *request,
	       char got[200])
{
	struct eddy_response *response = NULL;
	struct eddy_str body;
	int r = eddy_app_test(app, line, request, &response);

	got[0] = 0;
	if (r == 0)
		r = eddy_response_body(response, &body);
	if (r == 0)
		snprintf(got, 200, "%d %.*s", eddy_response_status(response), EDDY_FMT(body));
	eddy_response_free(response);
	return r;
}

#define EXPECT(line, request, want)                                                                \
	do {                                                                                       \
		cr_expect(eq(int, ask(app, line, request, got), 0));                               \
		cr_expect_str_eq(got, want);                                                       \
	} while (0)

Test(test, asks)
{
	const struct eddy_header headers[] = { { "content-type", "a/b" },
					       { "authorization", "x" },
					       { 0 } };
	struct eddy_app *app = make_app();
	char got[200];

	EXPECT("GET /orders/7", NULL, "200 order 7 of localhost");
	EXPECT("GET http://example.org:81/orders/7", NULL, "200 order 7 of example.org:81");
	EXPECT("POST /echo", (&(struct eddy_client_request){ .body = EDDY_STR("hello") }),
	       "200 hello");
	EXPECT("HEAD /orders/7", NULL, "200 ");
	EXPECT("GET /guarded/8", (&(struct eddy_client_request){ .headers = headers }),
	       "200 order 8 of localhost");
	EXPECT("DELETE /none", NULL,
	       "404 {\"type\":\"about:blank\",\"title\":\"Not "
	       "Found\",\"status\":404,\"detail\":\"no resource exists at this path\"}");
	eddy_app_free(app);
}

Test(test, has_all_of_the_response)
{
	struct eddy_app *app = make_app();
	struct eddy_response *response;
	struct eddy_str body;

	cr_assert(eq(int, eddy_app_test(app, "GET /guarded/8", NULL, &response), 0));
	cr_expect(eq(int, eddy_response_status(response), 401));
	cr_expect(eddy_str_eq_z(eddy_response_header(response, "X-Guarded"), "yes"));
	eddy_response_free(response);
	cr_assert(eq(int, eddy_app_test(app, "GET /stream", NULL, &response), 0));
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	cr_expect(eq(sz, body.len, 1000000));
	eddy_response_free(response);
	cr_assert(eq(int, eddy_app_test(app, "GET /file", NULL, &response), 0));
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	cr_expect(eq(sz, body.len, 300000));
	cr_expect(body.ptr[299999] == 'f');
	eddy_response_free(response);
	eddy_app_free(app);
}

/* Limits hold, a response that is cut is none, and a handler does not outlive the test. */
Test(test, is_true_to_the_network)
{
	static char big[2 << 20];
	struct eddy_app *app = make_app();
	char got[200];

	cr_expect(eq(int,
		     ask(app, "POST /echo",
			 &(struct eddy_client_request){ .body = eddy_str(big, sizeof(big)) }, got),
		     0));
	cr_expect(eddy_str_starts(eddy_str_from(got), EDDY_STR("413 ")), "%s", got);
	cr_expect(eq(int, ask(app, "GET /broken", NULL, got), -ECONNRESET));
	cr_expect(eq(int,
		     ask(app, "GET /sleepy",
			 &(struct eddy_client_request){ .timeout_ns = 10 * EDDY_MS }, got),
		     -ETIMEDOUT));
	eddy_app_free(app);
}

/* ---- errors of the client ---- */

static char explained[1000];

static void explain(const struct eddy_record *record, void *arg)
{
	(void)arg;
	if (strcmp(record->target, "eddy::test") == 0)
		snprintf(explained, sizeof(explained), "%.*s", EDDY_FMT(record->message));
}

struct pulled {
	unsigned pieces; /* of three bytes */
	int error;       /* after them; 0: the end */
};

static ssize_t pull_pieces(void *data, void *buf, size_t len)
{
	struct pulled *pulled = data;

	cr_assert(len >= 3);
	if (!pulled->pieces)
		return pulled->error;
	pulled->pieces--;
	memcpy(buf, "abc", 3);
	return 3;
}

/* Respond without an error whatever becomes of the body. */
static int careless(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;

	eddy_req_body(req, &body);
	return eddy_res_ok(res, "fine");
}

static void expect_failure(struct eddy_app *app, const char *line,
			   const struct eddy_client_request *request, int r, const char *why)
{
	char got[200];

	explained[0] = 0;
	cr_expect(eq(int, ask(app, line, request, got), r), "%s: %s", line, why);
	cr_expect(strstr(explained, why) != NULL, "%s: %s", why, explained);
}

/* A body of another length than announced is an error of the client, whatever the app does. */
Test(test, requires_the_announced_length)
{
	static const char *const lines[] = { "POST /echo", "POST /careless" };
	static const struct {
		struct pulled pulled;
		uint64_t announced;
		int r;
	} rows[] = {
		{ { 2, 0 }, 6, 0 },       { { 2, 0 }, 5, -EINVAL }, { { 3, 0 }, 6, -EINVAL },
		{ { 2, 0 }, 7, -EINVAL }, { { 0, 0 }, 1, -EINVAL },
	};
	struct eddy_app *app = make_app();
	char got[200];

	eddy_app_map_post(app, "/careless", careless);
	setenv("EDDY_LOG", "debug", 1);
	eddy_log_subscribe(explain, NULL);
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		struct pulled pulled = rows[i / 2].pulled;
		struct eddy_client_request request = { .pull = pull_pieces,
						       .pull_data = &pulled,
						       .pull_len = rows[i / 2].announced,
						       .expect_continue = i % 2 };

		if (rows[i / 2].r == 0)
			EXPECT(lines[i % 2], &request, i % 2 ? "200 fine" : "200 abcabc");
		else
			expect_failure(app, lines[i % 2], &request, rows[i / 2].r,
				       "the length of the body differs from the announced one");
	}
	eddy_log_unsubscribe();
	eddy_app_free(app);
}

static int many_fields(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	for (int i = 0; i < 200; i++)
		eddy_res_add(res, "x-many", EDDY_STR("x"));
	return eddy_res_ok(res, "many");
}

/* The client's errors are explained as over the network. */
Test(test, explains_errors)
{
	struct eddy_client_file file = { .fd = memfd_create("file", MFD_CLOEXEC), .len = 5 };
	struct eddy_client_file none = { .fd = -1, .len = 5 };
	struct pulled failing = { 1, -EIO };
	struct eddy_app *app = make_app();

	cr_assert(eq(sz, (size_t)write(file.fd, "four", 4), 4));
	eddy_app_map_get(app, "/many", many_fields);
	setenv("EDDY_LOG", "debug", 1);
	eddy_log_subscribe(explain, NULL);
	expect_failure(app, "POST /echo",
		       &(struct eddy_client_request){ .pull = pull_pieces, .pull_data = &failing },
		       -EIO, "can't get the request body: Input/output error");
	expect_failure(app, "POST /echo", &(struct eddy_client_request){ .file = &file }, -EINVAL,
		       "the file is shorter than the announced length");
	expect_failure(app, "POST /echo", &(struct eddy_client_request){ .file = &none }, -EBADF,
		       "can't get the request body: Bad file descriptor");
	expect_failure(app, "GET /stream", &(struct eddy_client_request){ .body_max = 5000 },
		       -EMSGSIZE, "the body has more than 5000 bytes");
	expect_failure(app, "GET /many", NULL, -EMSGSIZE, "the response is malformed: ");
	expect_failure(app, "GET /broken", NULL, -ECONNRESET,
		       "the server closed the connection before the end of its response");
	eddy_log_unsubscribe();
	close(file.fd);
	eddy_app_free(app);
}

static ssize_t pull_for_long(void *data, void *buf, size_t len)
{
	struct pulled *pulled = data;

	return pulled->pieces ? pull_pieces(data, buf, len) : eddy_sleep(1000 * EDDY_SECOND);
}

/* A response ends the client's sending, also of a body that the app does not read. */
Test(test, stops_sending_after_the_response)
{
	struct pulled pulled[] = { { 2, 0 }, { 2, 0 }, { 2, 0 } };
	struct eddy_client_request request = { .pull = pull_for_long, .pull_data = &pulled[0] };
	struct eddy_app *app = make_app();
	char got[200];

	cr_expect(eq(int, ask(app, "POST /orders/7", &request, got), 0));
	cr_expect(eddy_str_starts(eddy_str_from(got), EDDY_STR("405 ")), "%s", got);
	cr_expect(eq(uint, pulled[0].pieces, 1));
	/* The app does not ask for this one. */
	request.pull_data = &pulled[1];
	request.expect_continue = true;
	cr_expect(eq(int, ask(app, "POST /orders/7", &request, got), 0));
	cr_expect(eq(uint, pulled[1].pieces, 2));
	/* All that was announced has arrived. */
	request.pull_data = &pulled[2];
	request.pull_len = 6;
	EXPECT("POST /echo", &request, "200 abcabc");
	eddy_app_free(app);
}

static ssize_t pull_slowly(void *data, void *buf, size_t len)
{
	unsigned *times = data;

	(void)len;
	if ((*times)++ == 0) {
		memset(buf, 'x', 1);
		return 1;
	}
	return eddy_sleep(1000 * EDDY_SECOND);
}

/* The app's limits of time are those of the network as well. */
Test(test, keeps_the_time_of_the_app)
{
	struct eddy_app *app = make_app();
	unsigned times = 0;
	char got[200];

	eddy_app_with_server(app, &(struct eddy_server_options){ .body_timeout_ns = 20 * EDDY_MS });
	cr_expect(eq(int,
		     ask(app, "POST /echo",
			 &(struct eddy_client_request){ .pull = pull_slowly, .pull_data = &times },
			 got),
		     0));
	cr_expect(eddy_str_starts(eddy_str_from(got), EDDY_STR("408 ")), "%s", got);
	eddy_app_free(app);
}

Test(test, refuses)
{
	static const char *const lines[] = { "",         "GET",          "GET ",
					     " /",       "GET path",     "G\tT /",
					     "GET /a b", "GET ftp://a/", "GET http://u@a/" };
	struct eddy_app *app = make_app();
	char got[200];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		int r = ask(app, lines[i], NULL, got);

		cr_expect(r == -EINVAL || r == -EPROTONOSUPPORT, "%s: %d", lines[i], r);
	}
	eddy_app_map_get(app, "no slash", order);
	cr_expect(eq(int, ask(app, "GET /orders/7", NULL, got), -EINVAL));
	eddy_app_free(app);
}

struct asked {
	struct eddy_app *app;
	char got[200];
	int r;
};

static int ask_one(void *arg)
{
	struct asked *asked = arg;

	asked->r = ask(asked->app, "GET /orders/7", NULL, asked->got);
	return 0;
}

static int ask_and_cancel(void *arg)
{
	struct asked *asked = arg;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 10 * EDDY_MS });
	r = ask(asked->app, "GET /sleepy", NULL, asked->got);
	eddy_scope_end(&scope);
	if (r != -ECANCELED)
		return -EPROTO;
	return ask_one(asked);
}

/* Within a task everything happens on its loop, and is cancelled with it. */
Test(test, asks_from_a_task)
{
	struct asked asked = { .app = make_app() };

	cr_expect(eq(int, eddy_run(NULL, ask_and_cancel, &asked), 0));
	cr_expect(eq(int, asked.r, 0));
	cr_expect_str_eq(asked.got, "200 order 7 of localhost");
	eddy_app_free(asked.app);
}

/* Whichever end is cancelled first. */
Test(test, a_cancelled_caller_is_told_so)
{
	for (int seed = 60; seed < 80; seed++) {
		struct asked asked = { .app = make_app() };
		char chaos[64];

		snprintf(chaos, sizeof(chaos), "%d,shuffle,delay,eintr,nobufs,ends,misses", seed);
		setenv("EDDY_CHAOS", chaos, 1);
		cr_expect(eq(int, eddy_run(NULL, ask_and_cancel, &asked), 0));
		eddy_app_free(asked.app);
	}
}

/* A layer's task, and requests that need it. */
struct helper {
	struct eddy_app *app;
	struct eddy_event asked, helped;
	unsigned begun, ended;
	int r;
};

static int help(void *arg)
{
	struct helper *helper = arg;
	int r;

	helper->begun++;
	r = eddy_event_wait(&helper->asked);
	if (r == 0) {
		eddy_event_set(&helper->helped);
		r = eddy_sleep(1000 * EDDY_SECOND);
	}
	helper->ended += r == -ECANCELED;
	return r;
}

static int need_help(struct eddy_req *req, struct eddy_res *res)
{
	struct helper *helper = eddy_req_context(req);
	int r;

	eddy_event_set(&helper->asked);
	r = eddy_event_wait(&helper->helped);
	return r < 0 ? r : eddy_res_ok(res, "helped");
}

static int ask_for_help(void *arg)
{
	struct helper *helper = arg;
	char got[200];

	eddy_event_init(&helper->asked);
	eddy_event_init(&helper->helped);
	helper->r = ask(helper->app, "GET /help", NULL, got);
	return strcmp(got, "200 helped") == 0 ? 0 : -EPROTO;
}

/* What goes on beside an app that runs does so for each test, and is over when that is. */
Test(test, runs_tasks_of_layers)
{
	struct helper helper = { .app = make_app() };

	eddy_app_set_context(helper.app, &helper);
	eddy_app_add_task(helper.app, "help", help, &helper);
	eddy_app_map_get(helper.app, "/help", need_help);
	for (unsigned i = 1; i <= 2; i++) {
		cr_expect(eq(int, eddy_run(NULL, ask_for_help, &helper), 0));
		cr_expect(eq(uint, helper.begun, i));
		cr_expect(eq(uint, helper.ended, i));
	}
	eddy_app_free(helper.app);
}
