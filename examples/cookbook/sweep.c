/* sweep: a periodic task beside a server, from its start to its end.
 *
 *     $ sweep localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s -X POST localhost:7878/tickets; curl -s -X POST localhost:7878/tickets
 *     1 ticket
 *     2 tickets
 *     $ sleep 1.2; curl -s localhost:7878/tickets
 *     0 tickets
 *     $ kill %1
 *     2026-11-21T09:00:01.000000Z  INFO sweep: the last sweep
 *     2026-11-21T09:00:01.000000Z  INFO eddy::app: Shutting down the server
 */
#include <eddy/http.h>
#include <eddy/layer.h>
#include <eddy/runtime.h>

#define PERIOD_NS (50 * EDDY_MS)
#define LASTS_NS EDDY_SECOND
#define TICKETS_MAX 1000

struct tickets {
	uint64_t made_ns[TICKETS_MAX]; /* the oldest first */
	unsigned count;
};

static void drop_old(struct tickets *tickets)
{
	uint64_t now = eddy_loop_now();
	unsigned old = 0;

	while (old < tickets->count && now - tickets->made_ns[old] > LASTS_NS)
		old++;
	tickets->count -= old;
	memmove(tickets->made_ns, tickets->made_ns + old,
		tickets->count * sizeof(*tickets->made_ns));
}

/* Ticks do not drift, however long a sweep takes. The task is cancelled after the last request. */
static int sweep(void *arg)
{
	struct eddy_ticker ticker;

	eddy_ticker_init(&ticker, PERIOD_NS);
	while (eddy_ticker_next(&ticker) > 0)
		drop_old(arg);
	eddy_info("sweep", "the last sweep");
	drop_old(arg);
	return 0;
}

static int show(struct eddy_req *req, struct eddy_res *res)
{
	const struct tickets *tickets = eddy_req_context(req);

	return eddy_res_ok(res, "%u ticket%s\n", tickets->count, tickets->count == 1 ? "" : "s");
}

static int draw(struct eddy_req *req, struct eddy_res *res)
{
	struct tickets *tickets = eddy_req_context(req);

	if (tickets->count == TICKETS_MAX)
		return 503;
	tickets->made_ns[tickets->count++] = eddy_loop_now();
	return show(req, res);
}

int main(int argc, char **argv)
{
	static struct tickets tickets;
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	/* The tickets have no lock. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(app, &tickets);
	eddy_app_add_task(app, "sweep", sweep, &tickets);
	eddy_app_map_get(app, "/tickets", show);
	eddy_app_map_post(app, "/tickets", draw);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
