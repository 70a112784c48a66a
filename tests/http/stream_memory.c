/* Tests of http/src/exchange/stream.h: responses whose head can't be allocated. */
#include "../runtime/failing.h"
#include "dial.h"
#include "hex.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/layer.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>

/* No block of an arena has room for it beside its copy. */
#define LONG ((size_t)(20 * EDDY_KIB))

static char text[LONG];

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

/* Fail to allocate the head of a stream, which is the allocation of this number. */
static int lack_head(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_set(res, "x-long", eddy_str(text, LONG));

	if (r < 0)
		return r;
	failing_at = (int)(intptr_t)eddy_req_route_data(req);
	r = eddy_res_write(res, "stream", 6);
	cr_expect(eq(int, failing_at, 0));
	failing_at = 0;
	cr_expect(eq(int, r, -ENOMEM));
	eddy_res_remove(res, "x-long");
	return r;
}

static int lack_and_200(struct eddy_req *req, struct eddy_res *res)
{
	lack_head(req, res);
	return 200;
}

static int lack_and_304(struct eddy_req *req, struct eddy_res *res)
{
	lack_head(req, res);
	return 304;
}

static int lack_and_409(struct eddy_req *req, struct eddy_res *res)
{
	lack_head(req, res);
	return 409;
}

static int lack_and_problem(struct eddy_req *req, struct eddy_res *res)
{
	lack_head(req, res);
	return eddy_res_problem(res, 503, "later");
}

static int lack_and_error(struct eddy_req *req, struct eddy_res *res)
{
	lack_head(req, res);
	return eddy_res_error(res, 503, "later");
}

static int lack_and_ok(struct eddy_req *req, struct eddy_res *res)
{
	lack_head(req, res);
	return eddy_res_ok(res, "instead");
}

/* The response is no stream, and its head is allocated after the handler has returned. */
static int lack_later(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_set(res, "x-long", eddy_str(text, LONG));

	if (r == 0)
		r = eddy_res_ok(res, "text");
	failing_at = (int)(intptr_t)eddy_req_route_data(req);
	return r;
}

/* Of errors, render 503. */
static int render(struct eddy_req *req, struct eddy_res *res, int status, const char *detail)
{
	(void)req;
	return status == 503 ? eddy_res_ok(res, "rendered %s", detail) : -ENOTSUP;
}

static void encode(void *data, struct eddy_req *req, struct eddy_res *res)
{
	(void)data;
	(void)req;
	/* As of a handler that has encoded its body. */
	if (eddy_res_header(res, "content-encoding").ptr)
		return;
	if (eddy_res_set_z(res, "content-encoding", "x-hex") == 0)
		eddy_res_code(res, &hex, hex_new(false));
}

static void keep_private(void *data, struct eddy_req *req, struct eddy_res *res)
{
	(void)data;
	(void)req;
	eddy_res_set_z(res, "cache-control", "no-store");
}

static int filter(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	eddy_res_head_fn *fn = eddy_next_data(next);
	int r = eddy_res_on_head(res, fn, NULL);

	return r < 0 ? r : eddy_next(next, req, res);
}

#define PROBLEM_500 "\"status\":500"
#define PROBLEM_503 "\"status\":503,\"detail\":\"later\""
/* The beginning of a problem document, and of "instead", by hex.h. */
#define CODED_PROBLEM "7b2274797065223a"
#define CODED_INSTEAD "696e7374656164"
#define PLAIN "content-length: "
#define CODED "content-encoding: x-hex\r\n"

/* The allocation of this number is that of the head; a coder makes one before. */
static const struct {
	const char *path;
	eddy_handler_fn *handler;
	intptr_t failing_at;
	const char *status;
	const char *field;
	const char *body;
} rows[] = {
	{ "/lacking", lack_head, 1, "500 ", PLAIN, PROBLEM_500 },
	{ "/200", lack_and_200, 1, "500 ", PLAIN, PROBLEM_500 },
	{ "/304", lack_and_304, 1, "500 ", PLAIN, PROBLEM_500 },
	{ "/409", lack_and_409, 1, "409 ", PLAIN, "\"status\":409" },
	{ "/problem", lack_and_problem, 1, "503 ", PLAIN, PROBLEM_503 },
	{ "/error", lack_and_error, 1, "503 ", PLAIN, "rendered later" },
	{ "/ok", lack_and_ok, 1, "200 ", PLAIN, "instead" },
	{ "/later", lack_later, 1, "500 ", PLAIN, PROBLEM_500 },
	{ "/private/lacking", lack_head, 1, "500 ", "cache-control: no-store\r\n", PROBLEM_500 },
	{ "/private/later", lack_later, 1, "500 ", "cache-control: no-store\r\n", PROBLEM_500 },
	{ "/coded/lacking", lack_head, 2, "500 ", CODED, CODED_PROBLEM },
	{ "/coded/200", lack_and_200, 2, "500 ", CODED, CODED_PROBLEM },
	{ "/coded/problem", lack_and_problem, 2, "503 ", CODED, CODED_PROBLEM },
	{ "/coded/ok", lack_and_ok, 2, "200 ", CODED, CODED_INSTEAD },
	{ "/coded/later", lack_later, 2, "500 ", CODED, CODED_PROBLEM },
	{ "/last", hello, 0, "200 ", PLAIN, "hello" },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

struct talk {
	struct eddy_app *app;
	char got[256 * EDDY_KIB];
};

static int run(void *app)
{
	return eddy_app_run(app);
}

/* Ask for all rows over one connection, and receive until its end. */
static void ask_all(struct talk *talk)
{
	char request[128];
	int fd = dial(eddy_app_port(talk->app));
	size_t len = 0;
	ssize_t r;

	for (size_t i = 0; i < ROWS; i++) {
		snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
			 rows[i].path, i == ROWS - 1 ? "Connection: close\r\n" : "");
		cr_assert(eq(int, eddy_send_all(fd, request, strlen(request), 0), 0));
	}
	while ((r = eddy_recv(fd, talk->got + len, sizeof(talk->got) - 1 - len, 0)) > 0)
		len += (size_t)r;
	close(fd);
}

static int serve(void *arg)
{
	struct talk *talk = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, talk->app);
	while (!eddy_app_port(talk->app))
		eddy_yield();
	ask_all(talk);
	eddy_app_shutdown(talk->app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return 0;
}

/* A status line, which no body contains. */
#define BEGIN "HTTP/1.1 "

/* Check a response, and end it as a string. Return: what follows. */
static char *check(size_t row, char *at)
{
	char *next = strstr(at + strlen(BEGIN), BEGIN), *fields_end = strstr(at, "\r\n\r\n");
	bool is_coded;

	if (next)
		next[0] = '\0';
	cr_assert(fields_end != NULL, "%s: %s", rows[row].path, at);
	fields_end[2] = '\0';
	cr_expect(strncmp(at + strlen(BEGIN), rows[row].status, strlen(rows[row].status)) == 0,
		  "%s: %s", rows[row].path, at);
	cr_expect(strstr(at, rows[row].field) != NULL, "%s: %s", rows[row].path, at);
	is_coded = strcmp(rows[row].field, CODED) == 0;
	cr_expect(eq(int, strstr(at, CODED) != NULL, is_coded), "%s: %s", rows[row].path, at);
	cr_expect(strstr(fields_end + 4, rows[row].body) != NULL, "%s: %s", rows[row].path,
		  fields_end + 4);
	if (!next)
		return at + strlen(at);
	next[0] = BEGIN[0];
	return next;
}

/* Each response is whole, and the connection is kept. */
Test(stream_memory, lacks_a_head)
{
	static struct talk talk;
	char *at = talk.got;

	talk.app = eddy_app_new();
	memset(text, 'x', sizeof(text));
	eddy_app_bind(talk.app, "127.0.0.1:0");
	eddy_app_with_server(talk.app,
			     &(struct eddy_server_options){ .no_signals = true, .workers = 1 });
	eddy_app_map_err(talk.app, render);
	for (size_t i = 0; i < ROWS; i++) {
		struct eddy_route *route =
			eddy_app_map_get(talk.app, rows[i].path, rows[i].handler);

		eddy_route_with(route,
				&(struct eddy_route_options){ .data = (void *)rows[i].failing_at });
		if (strncmp(rows[i].path, "/coded", 6) == 0)
			eddy_app_add_filter(route, filter, encode);
		if (strncmp(rows[i].path, "/private", 8) == 0)
			eddy_app_add_filter(route, filter, keep_private);
	}
	cr_assert(eq(int, eddy_run(NULL, serve, &talk), 0));
	eddy_app_free(talk.app);
	for (size_t i = 0; i < ROWS; i++)
		at = check(i, at);
	cr_expect(eq(str, at, ""));
	cr_expect(eq(uint, alive, 0));
}
