/* events: push events to all listening clients (server-sent events).
 *
 *     $ events localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -sN localhost:7878/events &
 *     : welcome
 *     $ curl -s localhost:7878/say -d 'The kettle boils.'
 *     told 1
 *     $ kill %1
 *     2026-11-21T09:00:01.000000Z  INFO eddy::app: Shutting down the server
 *     $ wait %2
 *     data: The kettle boils.
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <stdio.h>

#define PING_NS (15 * EDDY_SECOND)

struct event {
	int len;
	char text[300];
};

struct listener {
	struct eddy_chan events; /* of struct event; slow listeners miss some */
	struct eddy_node node;
};

static int tell(struct eddy_res *res, struct listener *me, struct eddy_event *stopping)
{
	struct event event;
	int r = eddy_res_write(res, ": welcome\n\n", 11);

	while (r == 0) {
		struct eddy_case cases[] = {
			eddy_case_chan_recv(&me->events, &event),
			eddy_case_event(stopping),
			eddy_case_after(PING_NS),
		};

		r = eddy_select(cases, 3);
		if (r < 0 || cases[1].ready)
			return r < 0 ? r : 0;
		/* Only a write notices that the client has left. */
		if (cases[0].ready)
			r = eddy_res_write(res, event.text, (size_t)event.len);
		else
			r = eddy_res_write(res, ": ping\n\n", 8);
	}
	return r;
}

/* GET /events */
static int events(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_node *listeners = eddy_req_context(req);
	struct listener me;
	int r = eddy_chan_init(&me.events, sizeof(struct event), 16);

	if (r < 0)
		return r;
	eddy_res_set_z(res, "content-type", "text/event-stream");
	eddy_res_set_z(res, "cache-control", "no-store");
	eddy_list_append(listeners, &me.node);
	r = tell(res, &me, eddy_req_stopping(req));
	eddy_list_remove(&me.node);
	eddy_chan_deinit(&me.events);
	return r;
}

/* POST /say: the body is one event, of one line. */
static int say(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_node *listeners = eddy_req_context(req);
	struct event event;
	struct eddy_str body;
	unsigned told = 0;
	int r = eddy_req_body(req, &body);

	if (r < 0)
		return r;
	if (!body.len || body.len > 200 || memchr(body.ptr, '\n', body.len) ||
	    memchr(body.ptr, '\r', body.len))
		return eddy_res_problem(res, 400, "an event is one line of 1 to 200 bytes");
	event.len = snprintf(event.text, sizeof(event.text), "data: %.*s\n\n", EDDY_FMT(body));
	for (struct eddy_node *node = listeners->next; node != listeners; node = node->next)
		told += eddy_chan_try_send(&eddy_of(node, struct listener, node)->events, &event) ==
			0;
	return eddy_res_ok(res, "told %u\n", told);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_node listeners;

	eddy_list_init(&listeners);
	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	/* Listeners and their channels belong to one loop. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(app, &listeners);
	eddy_app_map_get(app, "/events", events);
	eddy_app_map_post(app, "/say", say);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
