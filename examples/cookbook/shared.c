/* shared: a server with four loops, and state that belongs to one of them.
 *
 *     $ shared localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ for i in 1 2 3 4 5 6 7 8; do curl -s -X POST localhost:7878/seats/ada; done | sort | uniq -c
 *           1 seat 1
 *           1 seat 2
 *           1 seat 3
 *           5 sold out
 *     $ curl -s localhost:7878/asked
 *     8
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <stdatomic.h>
#include <stdio.h>

#define SEATS 3

/* Used by tasks of the first loop only: no lock. */
struct hall {
	char names[SEATS][32];
	unsigned sold;
};

static struct hall hall;
/* A single number can be an atomic instead. */
static atomic_uint asked;

struct sale {
	struct eddy_str name;
	unsigned seat; /* 0: sold out */
};

/* Runs as a task of the first loop. */
static int sell(void *arg)
{
	struct sale *sale = arg;

	if (hall.sold == SEATS)
		return 0;
	snprintf(hall.names[hall.sold], sizeof(hall.names[0]), "%.*s", EDDY_FMT(sale->name));
	sale->seat = ++hall.sold;
	return 0;
}

/* POST /seats/{name}, on any loop. The first loop uses `sale` until the call returns. */
static int buy(struct eddy_req *req, struct eddy_res *res)
{
	struct sale sale = { 0 };
	int r;

	if (eddy_req_path(req, EDDY_TO(&sale.name)) < 0)
		return 400;
	atomic_fetch_add(&asked, 1);
	r = eddy_loops_call(eddy_loops_at(0), "sell", sell, &sale);
	if (r < 0)
		return r;
	return sale.seat ? eddy_res_ok(res, "seat %u\n", sale.seat) :
			   eddy_res_ok(res, "sold out\n");
}

/* GET /asked */
static int count(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_ok(res, "%u\n", atomic_load(&asked));
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers = 4 });
	eddy_app_map_post(app, "/seats/{name}", buy);
	eddy_app_map_get(app, "/asked", count);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
