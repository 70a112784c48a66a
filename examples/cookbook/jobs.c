/* jobs: background jobs, which are finished before the program ends.
 *
 *     $ jobs localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ for i in 1 2 3; do curl -s -X POST localhost:7878/jobs; done
 *     job 1 will be done
 *     job 2 will be done
 *     job 3 will be done
 *     $ kill %1
 *     2026-11-21T09:00:01.000000Z  INFO eddy::app: Shutting down the server
 *     2026-11-21T09:00:02.000000Z  INFO jobs: job 1 is done
 *     2026-11-21T09:00:03.000000Z  INFO jobs: job 2 is done
 *     2026-11-21T09:00:04.000000Z  INFO jobs: job 3 is done
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>

#define GRACE_NS (30 * EDDY_SECOND)

struct jobs {
	struct eddy_app *app;
	struct eddy_chan queue; /* of job numbers */
	unsigned last;
};

/* Does one job at a time. For more concurrency, spawn more such tasks. */
static int work(void *arg)
{
	struct jobs *jobs = arg;
	unsigned number;
	int r = 0;

	while (r == 0 && eddy_chan_recv(&jobs->queue, &number) == 0) {
		r = eddy_sleep(300 * EDDY_MS); /* the work */
		if (r == 0)
			eddy_info("jobs", "job %u is done", number);
	}
	return r;
}

/* POST /jobs: 503 if the queue is full, since waiting would only delay the client. */
static int add(struct eddy_req *req, struct eddy_res *res)
{
	struct jobs *jobs = eddy_req_context(req);
	unsigned number = jobs->last + 1;

	if (eddy_chan_try_send(&jobs->queue, &number) < 0) {
		eddy_res_set_z(res, "retry-after", "1");
		return 503;
	}
	jobs->last = number;
	eddy_res_status(res, 202);
	return eddy_res_ok(res, "job %u will be done\n", number);
}

/* Stop the server first, so that no job is added. Then finish the queue, within GRACE_NS. */
static int run(void *arg)
{
	struct jobs *jobs = arg;
	struct eddy_scope scope, grace;
	struct eddy_join worker;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn_join(&scope, &worker, "worker", work, jobs);
	r = eddy_app_run(jobs->app);
	eddy_chan_close(&jobs->queue);
	eddy_scope_begin(&grace, &(struct eddy_scope_options){ .timeout_ns = GRACE_NS });
	eddy_join_wait(&worker, NULL);
	eddy_scope_end(&grace);
	eddy_scope_end(&scope); /* cancels the worker if it has not finished */
	return r;
}

int main(int argc, char **argv)
{
	struct jobs jobs = { .app = eddy_app_new() };
	int r = eddy_chan_init(&jobs.queue, sizeof(unsigned), 100);

	eddy_log_text_subscribe();
	eddy_app_bind(jobs.app, argc > 1 ? argv[1] : "localhost:7878");
	/* The queue belongs to one loop. */
	eddy_app_with_server(jobs.app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(jobs.app, &jobs);
	eddy_app_map_post(jobs.app, "/jobs", add);
	if (r == 0)
		r = eddy_run(NULL, run, &jobs);
	eddy_app_free(jobs.app);
	eddy_chan_deinit(&jobs.queue);
	return r < 0 ? 1 : 0;
}
