/* events: push events to all listening clients (server-sent events).
 *
 *     $ events localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/say -d 'The water is cold.'
 *     $ curl -sN -H 'last-event-id: none' localhost:7878/events &
 *     id: …
 *     data: The water is cold.
 *     $ curl -s localhost:7878/say -d 'The kettle boils.'
 *     $ curl -sN localhost:7878/countdown/2
 *     event: count
 *     data: 2
 *     event: count
 *     data: 1
 *     $ kill %1
 *     2026-11-21T09:00:01.000000Z  INFO eddy::app: Shutting down the server
 *     $ wait %2
 *     id: …
 *     data: The kettle boils.
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <stdio.h>

/* GET /events */
static int events(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_events_subscribe(eddy_req_context(req), res);
}

/* POST /say: the body is the data of an event. */
static int say(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_events_message message = { 0 };
	int r = eddy_req_body(req, &message.data);

	if (r == 0)
		r = eddy_events_publish(eddy_req_context(req), &message);
	return r < 0 ? r : eddy_res_no_content(res);
}

/* GET /countdown/{n}: events of this client alone. */
static int countdown(struct eddy_req *req, struct eddy_res *res)
{
	char text[32];
	unsigned left;
	int r;

	if (eddy_req_path(req, EDDY_TO(&left)) < 0)
		return 400;
	r = eddy_res_events(res, NULL);
	for (; left > 0 && r == 0; left--) {
		struct eddy_events_message message = { .event = EDDY_STR("count") };

		snprintf(text, sizeof(text), "%u", left);
		message.data = eddy_str_from(text);
		r = eddy_events_send(res, &message);
		if (r == 0)
			r = eddy_sleep(100 * EDDY_MS);
	}
	return r; /* -ECONNRESET or -ECANCELED if the client has left */
}

int main(int argc, char **argv)
{
	struct eddy_events_channel *channel = eddy_events_channel_new(NULL);
	struct eddy_app *app = eddy_app_new();
	int r;

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_set_context(app, channel);
	eddy_app_map_get(app, "/events", events);
	eddy_app_map_post(app, "/say", say);
	eddy_app_map_get(app, "/countdown/{n}", countdown);
	r = eddy_app_run_blocking(app);
	eddy_events_channel_free(channel);
	return r < 0 ? 1 : 0;
}
