/* poll: long polling: the response waits for a change, for at most 20 seconds.
 *
 *     $ poll localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s 'localhost:7878/score?after=0' &
 *     $ curl -s -X POST localhost:7878/goal
 *     goal 1
 *     $ wait %2
 *     1
 *     $ curl -s 'localhost:7878/score?after=0'
 *     1
 */
#include <eddy/http.h>
#include <eddy/runtime.h>

#define WAIT_NS (20 * EDDY_SECOND)

struct game {
	uint64_t score;
	struct eddy_event changed; /* set and cleared at once, to wake all waiting tasks */
};

struct wanted {
	uint64_t after;
};

static const struct eddy_member wanted_members[] = {
	EDDY_MEMBER(struct wanted, after, .otherwise = "0"),
};

/* GET /score?after=N: answers once the score is above N. */
static int score(struct eddy_req *req, struct eddy_res *res)
{
	struct game *game = eddy_req_context(req);
	uint64_t end_ns = eddy_now() + WAIT_NS;
	struct wanted wanted;

	if (eddy_req_query_into(req, wanted_members, &wanted) < 0)
		return 400;
	while (game->score <= wanted.after) {
		struct eddy_case cases[] = {
			eddy_case_event(&game->changed),
			eddy_case_event(eddy_req_stopping(req)),
			eddy_case_at(end_ns),
		};
		int r = eddy_select(cases, 3);

		if (r < 0)
			return r;
		if (!cases[0].ready)
			return eddy_res_no_content(res); /* the client asks again */
	}
	return eddy_res_ok(res, "%llu\n", (unsigned long long)game->score);
}

/* POST /goal */
static int goal(struct eddy_req *req, struct eddy_res *res)
{
	struct game *game = eddy_req_context(req);

	game->score++;
	eddy_event_set(&game->changed);
	eddy_event_clear(&game->changed);
	return eddy_res_ok(res, "goal %llu\n", (unsigned long long)game->score);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct game game = { 0 };

	eddy_event_init(&game.changed);
	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	/* The event belongs to one loop. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(app, &game);
	eddy_app_map_get(app, "/score", score);
	eddy_app_map_post(app, "/goal", goal);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
