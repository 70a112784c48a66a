/* look: find out why a server hangs.
 *
 *     $ EDDY_TRACE=out.json look localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::timeline: recording a timeline to out.json, …
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -sN localhost:7878/stuck &
 *     waiting for the archive
 *     $ kill -QUIT %1
 *     eddy: loop 1 "main" (thread …): 5 tasks, …
 *     └─ #1 "main" (eddy_run()), stack … KiB: event 0x…, for …
 *        └─ scope
 *           ├─ #2 "signals" (…), stack … KiB: poll on … (anon_inode:[eventfd]), for …
 *           └─ scope
 *              ├─ #3 "beside" (…), stack … KiB: event 0x…, for …
 *              │  └─ scope, shielded
 *              │     └─ #4 "keeper" (…), stack … KiB: sleep, for …
 *              └─ scope
 *                 └─ #5 "request" (…), stack … KiB: mutex 0x… held by #4 "keeper", for …
 *     …
 *     $ kill %1
 *     2026-11-21T09:00:01.000000Z  WARN eddy::app: requests cancelled after the drain timeout or a second signal: 1 (GET /stuck)
 *     2026-11-21T09:00:01.000000Z  INFO eddy::app: Shutting down the server
 *     $ grep -o '"name":"keeper"' out.json | head -n 1
 *     "name":"keeper"
 */
#include <eddy/http.h>
#include <eddy/layer.h>
#include <eddy/runtime.h>

/* Holds the mutex for an hour. */
static int keep(void *archive)
{
	int r = eddy_mutex_lock(archive);

	if (r == 0) {
		eddy_sleep(3600 * EDDY_SECOND);
		eddy_mutex_unlock(archive);
	}
	return r;
}

/* GET /stuck */
static int stuck(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_mutex *archive = eddy_req_context(req);
	int r = eddy_res_write(res, "waiting for the archive\n", 24);

	if (r == 0)
		r = eddy_mutex_lock(archive);
	if (r == 0)
		eddy_mutex_unlock(archive);
	return r;
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_mutex archive;

	eddy_mutex_init(&archive);
	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_with_server(app,
			     &(struct eddy_server_options){ .drain_timeout_ns = 100 * EDDY_MS });
	eddy_app_set_context(app, &archive);
	eddy_app_add_task(app, "keeper", keep, &archive);
	eddy_app_map_get(app, "/stuck", stuck);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
