/* Server-sent events. */
#include "tour.h"

#include <eddy/events.h>
#include <eddy/runtime.h>
#include <stdio.h>

/* Get where a client goes on: behind its last event, if it had one of these. */
static uint32_t last_of(const struct eddy_req *req, uint32_t count)
{
	struct eddy_str id = eddy_events_last_id(req);
	uint32_t last = 0;

	if (id.len && eddy_to_parse(EDDY_TO(&last), id) < 0)
		return 0;
	return last < count ? last : count;
}

static int send_ticks(struct eddy_res *res, uint32_t last, uint32_t count)
{
	char number[EDDY_U64_SIZE];
	int r = 0;

	while (last < count && r == 0) {
		struct eddy_str text = eddy_str(number, eddy_u64_format(++last, number));

		r = eddy_events_send(res, &(struct eddy_events_message){
						  .id = text,
						  .event = EDDY_STR("tick"),
						  .data = text,
					  });
		if (r == 0 && last < count)
			r = eddy_sleep(10 * EDDY_MS);
	}
	return r;
}

/* GET /events/{n}: n events; with ?stay the stream stays open, and ?comment=MS says how often a
 * comment is sent. */
static int events(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_events_options options = { 0 };
	struct eddy_str text;
	uint32_t count, last, ms = 0;
	bool stays = eddy_req_query_get(req, "stay", &text) == 0;
	int r;

	if (eddy_req_path(req, EDDY_TO(&count)) < 0)
		return 400;
	if (eddy_req_query_get(req, "comment", &text) == 0 &&
	    (eddy_to_parse(EDDY_TO(&ms), text) < 0 || !ms))
		return eddy_res_problem(res, 400, "comment must be a number of milliseconds");
	last = last_of(req, count);
	if (last == count && !stays)
		return eddy_res_no_content(res); /* EventSource does not connect again */
	options.comment_ns = ms * EDDY_MS;
	r = eddy_res_events(res, &options);
	if (r == 0)
		r = send_ticks(res, last, count);
	if (r == 0 && stays)
		r = eddy_event_wait(eddy_req_stopping(req));
	return r;
}

void tour_map_events(struct eddy_app *app)
{
	eddy_app_map_get(app, "/events/{n}", events);
}
