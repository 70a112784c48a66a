/* Tests of eddy_app_stats(). */
#include "../on_valgrind.h"
#include "dial.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <sys/resource.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

static int run(void *app)
{
	return eddy_app_run(app);
}

static struct eddy_app *make(unsigned connections_max, unsigned workers)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_with_server(app, &(struct eddy_server_options){
					  .workers = workers,
					  .connections_max = connections_max,
					  .no_signals = true,
				  });
	eddy_app_map_get(app, "/", hello);
	return app;
}

/* Until it listens, in its first run. */
static void start(struct eddy_scope *scope, struct eddy_app *app)
{
	eddy_scope_begin(scope, NULL);
	eddy_scope_spawn(scope, "app", run, app);
	while (!eddy_app_port(app))
		eddy_sleep(EDDY_MS);
}

static int stop(struct eddy_scope *scope, struct eddy_app *app)
{
	eddy_app_shutdown(app);
	eddy_scope_join(scope);
	return eddy_scope_end(scope);
}

/* A client that has been answered. Return: its socket. */
static int client(const struct eddy_app *app)
{
	char buf[1024];

	return dial_and_get(eddy_app_port(app), buf, sizeof(buf));
}

static void await_connections(const struct eddy_app *app, uint64_t count)
{
	while (eddy_app_stats(app).connections != count)
		eddy_sleep(EDDY_MS);
}

static struct eddy_app_stats open_now, after_one, second_run, at_end;

static int count_connections(void *arg)
{
	struct eddy_app *app = arg;
	struct eddy_scope scope;
	int fds[8], r;

	start(&scope, app);
	for (int i = 0; i < 8; i++)
		fds[i] = client(app);
	open_now = eddy_app_stats(app);
	close(fds[0]);
	await_connections(app, 7);
	after_one = eddy_app_stats(app);
	r = stop(&scope, app);
	for (int i = 1; i < 8; i++)
		close(fds[i]);
	start(&scope, app);
	/* The port is known from the first run: it may be too early. */
	while ((fds[0] = client(app)) < 0)
		eddy_sleep(EDDY_MS);
	second_run = eddy_app_stats(app);
	r |= stop(&scope, app);
	close(fds[0]);
	at_end = eddy_app_stats(app);
	return r;
}

Test(app_stats, count_on_all_workers_and_over_runs)
{
	struct eddy_app *app = make(100, 2);

	cr_expect(eq(u64, eddy_app_stats(app).accepted, 0));
	cr_assert(eq(int, eddy_run(NULL, count_connections, app), 0));
	cr_expect(eq(u64, open_now.connections, 8));
	cr_expect(eq(u64, open_now.accepted, 8));
	cr_expect(eq(u64, open_now.evicted_idle, 0));
	cr_expect(eq(u64, after_one.connections, 7));
	cr_expect(eq(u64, after_one.accepted, 8));
	cr_expect(eq(u64, second_run.connections, 1));
	cr_expect(eq(u64, second_run.accepted, 9));
	cr_expect(eq(u64, at_end.connections, 0));
	cr_expect(eq(u64, at_end.accepted, 9));
	cr_expect(eq(u64, at_end.refused, 0));
	cr_expect(eq(u64, at_end.accept_failures, 0));
	eddy_app_free(app);
}

static int make_room(void *arg)
{
	struct eddy_app *app = arg;
	struct eddy_scope scope;
	int fds[5], r;

	start(&scope, app);
	for (int i = 0; i < 5; i++)
		fds[i] = client(app);
	await_connections(app, 2);
	open_now = eddy_app_stats(app);
	r = stop(&scope, app);
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	return r;
}

Test(app_stats, tell_who_made_room)
{
	struct eddy_app *app = make(2, 1);

	cr_assert(eq(int, eddy_run(NULL, make_room, app), 0));
	cr_expect(eq(u64, open_now.accepted, 5));
	cr_expect(eq(u64, open_now.evicted_idle, 3));
	eddy_app_free(app);
}

static int run_out(void *arg)
{
	struct rlimit before, none;
	struct eddy_app *app = arg;
	struct eddy_scope scope;
	int one, other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;
	struct sockaddr_in address;

	start(&scope, app);
	address = dial_address(eddy_app_port(app));
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	/* An accept knows the limit from when it was armed: one that is there already takes a client still. */
	one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setrlimit(RLIMIT_NOFILE, &none);
	connect(one, (const struct sockaddr *)&address, sizeof(address));
	connect(other, (const struct sockaddr *)&address, sizeof(address));
	while (!eddy_app_stats(app).accept_failures)
		eddy_sleep(EDDY_MS);
	open_now = eddy_app_stats(app);
	setrlimit(RLIMIT_NOFILE, &before);
	await_connections(app, 2);
	r = stop(&scope, app);
	close(one);
	close(other);
	return r;
}

static char warned[256];

static void hear(const struct eddy_record *record, void *arg)
{
	(void)arg;
	if (record->level == EDDY_LOG_WARN && !*warned)
		snprintf(warned, sizeof(warned), "%s: %.*s", record->target,
			 EDDY_FMT(record->message));
}

Test(app_stats, tell_that_no_descriptor_was_left)
{
	struct eddy_app *app;

	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind keeps the limit of descriptors to itself");
	app = make(100, 1);
	eddy_log_subscribe(hear, NULL);
	cr_assert(eq(int, eddy_run(NULL, run_out, app), 0));
	eddy_log_unsubscribe();
	/* And what to do about it. */
	cr_expect(eq(str, warned,
		     "eddy::http: accepting pauses: Too many open files; raise the limit of open "
		     "files (ulimit -n, or LimitNOFILE= in a unit)"));
	cr_expect(le(u64, open_now.accepted, 1));
	cr_expect(eq(u64, open_now.connections, open_now.accepted));
	cr_expect(eq(u64, open_now.refused, 0));
	eddy_app_free(app);
}
