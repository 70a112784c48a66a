/* beside: a server that is one task among others.
 *
 *     $ beside localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl localhost:7878/ticks
 *     37
 *     $ curl -X POST localhost:7878/stop
 *     stopped after 64 ticks
 */
#include <eddy/http.h>
#include <eddy/runtime.h>

struct beside {
	struct eddy_app *app;
	unsigned ticks;
};

static int tick(void *arg)
{
	struct beside *beside = arg;
	int r;

	while ((r = eddy_sleep(50 * EDDY_MS)) == 0)
		beside->ticks++;
	return r;
}

/* GET /ticks: handlers run on the same loop as the task, so no lock is needed. */
static int ticks(struct eddy_req *req, struct eddy_res *res)
{
	const struct beside *beside = eddy_req_context(req);

	return eddy_res_ok(res, "%u\n", beside->ticks);
}

/* POST /stop: this response is still sent. */
static int stop(struct eddy_req *req, struct eddy_res *res)
{
	struct beside *beside = eddy_req_context(req);

	eddy_app_shutdown(beside->app);
	return eddy_res_ok(res, "stopped after %u ticks\n", beside->ticks);
}

/* Run the server until it is shut down, then cancel the ticking task. */
static int serve(void *arg)
{
	struct beside *beside = arg;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "tick", tick, beside);
	r = eddy_app_run(beside->app);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	return r;
}

int main(int argc, char **argv)
{
	struct beside beside = { .app = eddy_app_new() };
	int r;

	eddy_log_text_subscribe();
	if (argc > 1)
		eddy_app_bind(beside.app, argv[1]);
	eddy_app_set_context(beside.app, &beside);
	eddy_app_map_get(beside.app, "/ticks", ticks);
	eddy_app_map_post(beside.app, "/stop", stop);
	r = eddy_run(NULL, serve, &beside);
	eddy_app_free(beside.app);
	return r < 0 ? 1 : 0;
}
