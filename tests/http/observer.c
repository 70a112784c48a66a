/* Tests of eddy/observer.h. */
#include "dial.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/local.h>
#include <eddy/observer.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct eddy_local_key key = { "journal" }, other_key = { "other" };

/* What an observer has seen last. */
static struct {
	struct eddy_outcome outcome;
	char order[16]; /* who was told, in their order */
	char pattern[32];
	char method[16];
	char fields[64]; /* of the last record */
	bool seen_by_task;
} seen;

static void note(char who)
{
	size_t len = strlen(seen.order);

	cr_assert(len < sizeof(seen.order) - 1);
	seen.order[len] = who;
}

static void *begin(void *data, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_field *fields = eddy_req_alloc(req, 2 * sizeof(*fields));
	struct eddy_local *locals = eddy_req_alloc(req, 2 * sizeof(*locals));
	const char *name = data;

	cr_assert(fields && locals);
	fields[0] = eddy_field_text(name, "yes");
	fields[1] = (struct eddy_field){ .name = NULL };
	locals[0] = (struct eddy_local){ *name == 'a' ? &key : &other_key, (void *)name };
	locals[1] = (struct eddy_local){ NULL, NULL };
	cr_assert(eq(int, eddy_req_annotate(req, fields, locals), 0));
	cr_assert(eq(int, eddy_res_set_z(res, "x-seen", name), 0));
	note(*name);
	return (void *)(name + 1);
}

static void end(void *data, void *state, struct eddy_req *req, const struct eddy_outcome *outcome)
{
	cr_assert(state == (char *)data + 1);
	note((char)(*(char *)data - 'a' + 'A'));
	seen.outcome = *outcome;
	snprintf(seen.pattern, sizeof(seen.pattern), "%.*s", EDDY_FMT(eddy_req_pattern(req)));
	snprintf(seen.method, sizeof(seen.method), "%.*s", EDDY_FMT(eddy_req_method(req)));
}

static const struct eddy_observer observer = { .begin = begin, .end = end };

static void keep_record(const struct eddy_record *record, void *arg)
{
	size_t at = 0;

	(void)arg;
	for (size_t i = 0; i < record->field_count; i++)
		at += (size_t)snprintf(seen.fields + at, sizeof(seen.fields) - at, "%s ",
				       record->fields[i].name);
}

static int look(void *arg)
{
	(void)arg;
	eddy_info("test", "in a task");
	seen.seen_by_task = eddy_local_get(&key) && eddy_local_get(&other_key);
	return 0;
}

static int spawn(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_scope scope;

	(void)req;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "look", look, NULL);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return eddy_res_ok(res, "done");
}

static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_bytes(res, "text/plain", body);
}

static int file(struct eddy_req *req, struct eddy_res *res)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	(void)req;
	cr_assert(ftruncate(fd, 100000) == 0);
	return eddy_res_file(res, EDDY_STR("file"), fd, NULL);
}

static int broken(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_write(res, "half", 4);
	return -EIO;
}

static struct eddy_app *make(void)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "/in");

	memset(&seen, 0, sizeof(seen));
	eddy_app_map_get(group, "/{x}", spawn);
	eddy_app_map_post(app, "/echo", echo);
	eddy_app_map_get(app, "/file", file);
	eddy_app_map_get(app, "/broken", broken);
	eddy_app_observe(app, &observer, (void *)"ab");
	return app;
}

/* Return: the status; below 0 when the connection was cut. */
static int ask(struct eddy_app *app, const char *line, struct eddy_str body)
{
	struct eddy_client_request request = { .method = "POST", .body = body };
	struct eddy_response *response;
	int r = eddy_app_test(app, line, body.ptr ? &request : NULL, &response);

	if (r < 0)
		return r;
	cr_assert(eddy_response_header(response, "x-seen").ptr != NULL, "%s", line);
	r = eddy_response_status(response);
	eddy_response_free(response);
	return r;
}

Test(observer, sees_every_outcome)
{
	static const struct {
		const char *line;
		int status;
		const char *pattern;
	} cases[] = {
		{ "GET /in/1", 200, "/in/{x}" }, { "GET /none", 404, "" },
		{ "DELETE /in/1", 405, "" },     { "GET /%00", 400, "" },
		{ "HEAD /file", 200, "/file" },
	};
	struct eddy_app *app = make();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert(eq(int, ask(app, cases[i].line, eddy_str(NULL, 0)), cases[i].status),
			  "%s", cases[i].line);
		cr_assert(eq(int, seen.outcome.status, cases[i].status));
		cr_assert(eq(str, seen.pattern, (char *)cases[i].pattern));
		cr_assert(seen.outcome.whole && seen.outcome.sent > 50 &&
			  seen.outcome.duration_ns > 0);
		cr_assert(strncmp(seen.method, cases[i].line, strlen(seen.method)) == 0);
	}
	eddy_app_free(app);
}

Test(observer, counts_bytes)
{
	struct eddy_app *app = make();

	cr_assert(eq(int, ask(app, "POST /echo", EDDY_STR("0123456789")), 200));
	cr_assert(eq(u64, seen.outcome.received, 10));
	cr_assert(seen.outcome.sent > 10 && seen.outcome.sent < 1000);
	cr_assert(eq(int, ask(app, "GET /file", eddy_str(NULL, 0)), 200));
	cr_assert(seen.outcome.sent > 100000 && seen.outcome.sent < 101000);
	eddy_app_free(app);
}

Test(observer, is_told_of_what_was_cut)
{
	struct eddy_app *app = make();
	int r = ask(app, "GET /broken", eddy_str(NULL, 0));

	cr_assert(r < 0);
	cr_assert(not(seen.outcome.whole));
	cr_assert(eq(int, seen.outcome.status, 200));
	eddy_app_free(app);
}

/* The lists are on the stack, like those of EDDY_FIELDS() and EDDY_LOCALS(). */
static void *begin_on_stack(void *data, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_local locals[] = { { &key, data }, { &other_key, data }, { NULL, NULL } };

	(void)eddy_res_set_z(res, "x-seen", data);
	cr_assert(eq(int,
		     eddy_req_annotate(req, EDDY_FIELDS(eddy_field_text("stack", data)), locals),
		     0));
	return NULL;
}

static void end_quietly(void *data, void *state, struct eddy_req *req,
			const struct eddy_outcome *outcome)
{
	(void)data;
	(void)state;
	(void)req;
	(void)outcome;
}

Test(observer, annotates_by_lists_on_its_stack)
{
	static const struct eddy_observer on_stack = { .begin = begin_on_stack,
						       .end = end_quietly };
	struct eddy_app *app = eddy_app_new();

	memset(&seen, 0, sizeof(seen));
	eddy_app_map_get(app, "/in/{x}", spawn);
	eddy_app_observe(app, &on_stack, (void *)"s");
	cr_assert(eq(int, eddy_log_subscribe(keep_record, NULL), 0));
	cr_assert(eq(int, ask(app, "GET /in/1", eddy_str(NULL, 0)), 200));
	eddy_log_unsubscribe();
	cr_assert(eq(str, seen.fields, "stack "));
	cr_assert(seen.seen_by_task);
	eddy_app_free(app);
}

Test(observer, annotates_all_that_a_request_does)
{
	struct eddy_app *app = make();

	eddy_app_observe(app, &observer, (void *)"bc");
	cr_assert(eq(int, eddy_log_subscribe(keep_record, NULL), 0));
	cr_assert(eq(int, ask(app, "GET /in/1", eddy_str(NULL, 0)), 200));
	eddy_log_unsubscribe();
	cr_assert(eq(str, seen.order, "abBA"));
	cr_assert(eq(str, seen.fields, "ab bc "));
	cr_assert(seen.seen_by_task);
	eddy_app_free(app);
}

#ifndef EDDY_NO_WEBSOCKET

/* ---- sockets ---- */

static void *begin_socket(void *data, void *state, struct eddy_req *req,
			  struct eddy_socket_notes *notes)
{
	(void)state;
	(void)req;
	(void)notes;
	note('s');
	return data;
}

static void end_socket(void *data, void *socket, const struct eddy_socket_outcome *outcome)
{
	cr_expect(outcome->code == EDDY_WS_ABNORMAL);
	note(socket == data ? 'S' : '-');
}

static int never(struct eddy_ws *ws, void *data)
{
	(void)ws;
	(void)data;
	return 0;
}

static int replace(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_next(next, req, res);

	return r == 0 ? 403 : r;
}

static int run_app(void *app)
{
	return eddy_app_run(app);
}

static int ask_for_socket(void *app)
{
	static const char request[] = "GET /ws HTTP/1.1\r\nHost: localhost\r\n"
				      "Connection: upgrade\r\nUpgrade: websocket\r\n"
				      "Sec-WebSocket-Version: 13\r\n"
				      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
	struct eddy_scope scope;
	char reply[13] = "";
	int fd;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run_app, app);
	while (!eddy_app_port(app))
		eddy_yield();
	fd = dial(eddy_app_port(app));
	cr_assert(send(fd, request, sizeof(request) - 1, 0) > 0);
	eddy_recv(fd, reply, sizeof(reply) - 1, 0);
	cr_expect_str_eq(reply, "HTTP/1.1 403");
	close(fd);
	eddy_app_shutdown(app);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

static const char *tell_of_socket(struct eddy_observer sockets)
{
	struct eddy_app *app = eddy_app_new();

	memset(&seen, 0, sizeof(seen));
	sockets.begin = begin_on_stack;
	sockets.end = end_quietly;
	eddy_app_bind(app, "localhost:0");
	eddy_app_with_server(app,
			     &(struct eddy_server_options){ .no_signals = true, .workers = 1 });
	eddy_app_observe(app, &sockets, (void *)"s");
	eddy_app_add_filter(app, replace, NULL);
	eddy_app_map_ws(app, "/ws", never, NULL);
	cr_assert(eq(int, eddy_run(NULL, ask_for_socket, app), 0));
	eddy_app_free(app);
	return seen.order;
}

Test(observer, is_told_of_sockets_as_it_likes)
{
	cr_expect_str_eq(tell_of_socket((struct eddy_observer){ .socket = begin_socket,
								.socket_end = end_socket }),
			 "sS");
	cr_expect_str_eq(tell_of_socket((struct eddy_observer){ .socket = begin_socket }), "s");
	cr_expect_str_eq(tell_of_socket((struct eddy_observer){ .socket_end = end_socket }), "-");
}

#endif
