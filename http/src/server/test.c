/* Test requests to an app over a socket pair, between a client's and a server's connection. */
#include "app/app.h"
#include "app/beside.h"
#include "client/client_conn.h"
#include "conn.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Added to the current time it does not overflow. */
#define FOR_EVER_NS (EDDY_NEVER / 4)

struct test {
	struct eddy_app *app;
	const char *line;
	const struct eddy_client_request *request;
	struct eddy_response **ret_response;
	struct eddy_client *client;
	struct eddyi_clocks clocks;
	struct eddyi_conns conns;
	struct eddy_scope tasks;
	struct eddy_event gone;
};

/* ---- the server's end ---- */

static void evictable(struct eddyi_conns *conns)
{
	(void)conns;
}

static void gone(struct eddyi_conns *conns)
{
	eddy_event_set(&eddy_of(conns, struct test, conns)->gone);
}

static void begin_serving(struct test *test, int fd)
{
	eddyi_clocks_init(&test->clocks, &test->app->options, 0);
	test->conns = (struct eddyi_conns){
		.app = test->app,
		.clocks = &test->clocks,
		.tasks = &test->tasks,
		.evictable = evictable,
		.gone = gone,
	};
	eddyi_conns_init(&test->conns);
	eddy_event_init(&test->gone);
	eddy_scope_begin(&test->tasks, NULL);
	eddyi_conn_new(&test->conns, fd,
		       &(struct eddyi_address){ test->app->addresses[0].text, .plain = true });
}

/* The client's end is closed: wait until the connection has unwound. */
static void end_serving(struct test *test, bool cut)
{
	struct eddy_scope shield;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	if (cut)
		eddy_scope_cancel(&test->tasks);
	if (test->conns.count)
		eddy_event_wait(&test->gone);
	eddy_scope_end(&shield);
	eddy_scope_end(&test->tasks);
	eddyi_conns_deinit(&test->conns);
	eddyi_clocks_deinit(&test->clocks);
}

/* ---- the client's end ---- */

/* Parse the line into method and URL. Return: 0, -EINVAL, -ENOMEM. */
static int take_line(struct test *test, struct eddyi_arena *arena, const char **ret_method,
		     const char **ret_url)
{
	struct eddy_str rest = eddy_str_from(test->line), method, url;

	if (!eddy_str_split(&rest, ' ', &method) || !rest.len)
		return -EINVAL;
	url = eddyi_arena_printf(arena, "%s%.*s", rest.ptr[0] == '/' ? "http://localhost" : "",
				 EDDY_FMT(rest));
	method = eddyi_arena_dup(arena, method);
	if (!url.ptr || !method.ptr)
		return -ENOMEM;
	*ret_method = method.ptr;
	*ret_url = url.ptr;
	return 0;
}

/* Give the client its only connection. Takes ownership of `fd`, also on failure. */
static int connect_client(struct test *test, struct eddyi_arena *arena, const char *text, int fd)
{
	struct eddyi_client_conn *conn = NULL;
	struct eddyi_url url;
	struct eddy_str origin;
	int r = eddyi_url_parse(eddy_str_from(text), &url);

	if (r == 0) {
		origin = eddyi_url_origin(arena, &url);
		conn = origin.ptr ? eddyi_client_conn_new(test->client, fd, origin) : NULL;
		r = conn ? 0 : -ENOMEM;
	}
	if (r < 0)
		eddyi_close_now(fd);
	else
		eddyi_client_conn_keep(conn);
	return r < 0 && r != -ENOMEM ? -EINVAL : r;
}

static int ask(struct test *test, int fd)
{
	struct eddy_client_request request = { 0 };
	struct eddyi_arena arena = { 0 };
	struct eddy_response *response;
	struct eddy_str body;
	const char *url;
	int r;

	if (test->request)
		request = *test->request;
	if (!request.body_max)
		request.body_max = UINT64_MAX;
	r = take_line(test, &arena, &request.method, &url);
	if (r < 0)
		eddyi_close_now(fd);
	else
		r = connect_client(test, &arena, url, fd);
	if (r == 0)
		r = eddy_client_send(test->client, url, &request, &response);
	eddyi_arena_deinit(&arena);
	if (r < 0)
		return r;
	r = eddy_response_body(response, &body);
	if (r < 0) {
		eddy_response_free(response);
		return r;
	}
	/* The response outlives the client. */
	response->client = NULL;
	*test->ret_response = response;
	return 0;
}

/* ---- both ends ---- */

static int test_over(struct test *test, const int fds[2])
{
	int r;

	test->client = eddy_client_new(&(struct eddy_client_options){
		/* No timeouts: the client waits for the app. */
		.timeout_ns = EDDY_NEVER,
		.idle_timeout_ns = FOR_EVER_NS,
		.stall_timeout_ns = FOR_EVER_NS,
	});
	if (!test->client) {
		eddyi_close_now(fds[0]);
		eddyi_close_now(fds[1]);
		return -ENOMEM;
	}
	test->client->is_cut_off = true;
	begin_serving(test, fds[1]);
	r = ask(test, fds[0]);
	if (r < 0)
		eddy_debug("eddy::test", "%s: %s", test->line, eddy_client_error(test->client));
	eddy_client_free(test->client);
	end_serving(test, r < 0);
	/* If the server's end is cancelled first, the client sees its connection close. */
	return r < 0 && eddy_is_cancelled() ? -ECANCELED : r;
}

static int test_connected(struct test *test)
{
	int fds[2];

	if (eddyi_socketpair_now(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	return test_over(test, fds);
}

/* Run the tasks of eddy_app_add_task() for this request as well. */
static int test_beside(struct test *test)
{
	struct eddyi_beside_keeper beside;
	struct eddy_scope scope;
	int r;

	eddyi_beside_init(&beside, test->app);
	eddy_scope_begin(&scope, NULL);
	r = eddyi_beside_begin(&beside, &scope);
	if (r == 0)
		r = test_connected(test);
	eddyi_beside_end(&beside);
	eddy_scope_end(&scope);
	return r;
}

static int run_test(void *arg)
{
	struct test *test = arg;
	struct eddy_app *app = test->app;
	int r;

	eddyi_app_stand_in(app);
	r = eddyi_app_prepare(app, false);
	eddyi_app_stand_back(app);
	if (r == 0)
		r = eddy_buffers_prepare();
	if (r < 0)
		return r;
	return test_beside(test);
}

int eddy_app_test(struct eddy_app *app, const char *line, const struct eddy_client_request *request,
		  struct eddy_response **ret_response)
{
	struct test test = {
		.app = app,
		.line = line,
		.request = request,
		.ret_response = ret_response,
	};

	return eddy_loop_self() ? run_test(&test) : eddy_run(NULL, run_test, &test);
}
