/* events: a server of event streams, with all options of eddy/events.h.
 *
 *     events [--replay N] [--no-replay] [--greets] [--lag BYTES] [--comment MS] [--compression]
 *            [--cert FILE --key FILE [--no_ktls]]
 *
 * GET /feed subscribes to a channel; POST /publish sends its body there, from a thread of its own
 * with ?thread, and ?count=N times; POST /end ends the channel; GET /ended subscribes to one that
 * ends while the head is sent. GET /wait begins a stream and waits for ever, and a record says what
 * has ended that. GET /all sends messages of every kind. POST /lines sends its body as one message,
 * of the id and event that the query has.
 */
#include "settings.h"

#include <eddy/compress.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

struct events {
	struct settings common;
	struct eddy_events_channel_options options;
	struct eddy_tls_options tls;
	bool compression;
	struct eddy_events_channel *channel;
};

static const struct setting switches[] = {
	SETTING(struct events, "replay", options.replay_max),
	SETTING(struct events, "no-replay", options.no_replay),
	SETTING(struct events, "greets", options.greets),
	SETTING(struct events, "lag", options.lag_max),
	{ "comment", setting_ms, offsetof(struct events, options.comment_ns) },
	SETTING(struct events, "compression", compression),
	SETTING(struct events, "cert", tls.cert),
	SETTING(struct events, "key", tls.key),
	SETTING(struct events, "no_ktls", tls.no_ktls),
	{ 0 },
};

struct publication {
	struct eddy_events_channel *channel;
	struct eddy_events_message message;
	uint32_t count;
	int r;
};

static struct eddy_str param(struct eddy_req *req, const char *name)
{
	struct eddy_str value;

	return eddy_req_query_get(req, name, &value) == 0 ? value : eddy_str(NULL, 0);
}

static void *publish_all(void *arg)
{
	struct publication *all = arg;

	for (uint32_t i = 0; i < all->count && all->r == 0; i++)
		all->r = eddy_events_publish(all->channel, &all->message);
	return NULL;
}

static int publish(struct eddy_req *req, struct eddy_res *res)
{
	struct events *events = eddy_req_context(req);
	struct publication all = { .channel = events->channel, .count = 1 };
	pthread_t thread;
	int r = eddy_req_body(req, &all.message.data);

	if (r < 0)
		return r;
	all.message.id = param(req, "id");
	all.message.event = param(req, "event");
	all.message.topic = param(req, "topic");
	if (param(req, "count").ptr)
		eddy_to_parse(EDDY_TO(&all.count), param(req, "count"));
	if (param(req, "thread").ptr && pthread_create(&thread, NULL, publish_all, &all) == 0)
		pthread_join(thread, NULL);
	else
		publish_all(&all);
	return all.r < 0 ? all.r : eddy_res_no_content(res);
}

static int feed(struct eddy_req *req, struct eddy_res *res)
{
	struct events *events = eddy_req_context(req);

	if (!events->channel)
		return eddy_res_no_content(res);
	return eddy_events_subscribe_to(events->channel, param(req, "topic"), res);
}

static int end(struct eddy_req *req, struct eddy_res *res)
{
	struct events *events = eddy_req_context(req);

	eddy_events_channel_free(events->channel);
	events->channel = NULL;
	return eddy_res_no_content(res);
}

static int free_channel(void *arg)
{
	eddy_events_channel_free(arg);
	return 0;
}

static int ended(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_events_channel *channel = eddy_events_channel_new(NULL);
	struct eddy_scope scope;
	int r;

	(void)req;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "free", free_channel, channel);
	r = eddy_events_subscribe(channel, res);
	eddy_scope_end(&scope);
	return r;
}

/* The handler's wait ends by the departure of the client, and a send then says so. */
static int wait_long(struct eddy_req *req, struct eddy_res *res)
{
	struct events *events = eddy_req_context(req);
	const struct eddy_events_options options = { events->options.comment_ns };
	int r = eddy_res_events(res, &options), sent = 0;

	if (r == 0)
		r = eddy_event_wait(eddy_req_stopping(req));
	if (r < 0)
		sent = eddy_events_send(
			res, &(struct eddy_events_message){ .comment = EDDY_STR("still there?") });
	eddy_log(EDDY_LOG_INFO, "events", EDDY_FIELDS(eddy_field_str("route", EDDY_STR("/wait"))),
		 "waited: %s, then %s", strerror(-r), strerror(-sent));
	return r;
}

static int all(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_events(res, NULL);

	(void)req;
	if (r == 0)
		r = eddy_events_send(
			res, &(struct eddy_events_message){ .comment = EDDY_STR("two\nlines") });
	if (r == 0)
		r = eddy_events_send(res, &(struct eddy_events_message){
						  .id = EDDY_STR("7"),
						  .event = EDDY_STR("tick"),
						  .data = EDDY_STR("a\r\n b\rc\n"),
						  .retry_ns = 2500 * EDDY_MS,
					  });
	if (r == 0)
		r = eddy_events_send(res, &(struct eddy_events_message){ .id = EDDY_STR(""),
									 .data = EDDY_STR("") });
	if (r == 0)
		r = eddy_events_send(res, &(struct eddy_events_message){ .retry_ns = EDDY_SECOND });
	return r;
}

static int lines(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_events_message message = { .id = param(req, "id"),
					       .event = param(req, "event") };
	int r = eddy_req_body(req, &message.data);

	if (r == 0)
		r = eddy_res_events(res, NULL);
	if (r == 0)
		r = eddy_events_send(res, &message);
	if (r == 0 && param(req, "twice").ptr)
		r = eddy_sleep(200 * EDDY_MS);
	if (r == 0 && param(req, "twice").ptr)
		r = eddy_events_send(res, &message);
	return r;
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct events events = { 0 };
	int r;

	settings_take(argc, argv, switches, &events, &events.common);
	eddy_log_text_subscribe();
	settings_apply(&events.common, app);
	events.channel = eddy_events_channel_new(&events.options);
	eddy_app_set_context(app, &events);
	if (events.compression)
		eddy_app_use_compression(app, NULL);
#ifndef EDDY_NO_TLS
	if (events.tls.cert)
		eddy_app_use_tls(app, &events.tls);
#endif
	eddy_app_map_get(app, "/feed", feed);
	eddy_app_map_get(app, "/ended", ended);
	eddy_app_map_get(app, "/wait", wait_long);
	eddy_app_map_get(app, "/all", all);
	eddy_app_map_post(app, "/lines", lines);
	eddy_app_map_post(app, "/publish", publish);
	eddy_app_map_post(app, "/end", end);
	r = eddy_app_run_blocking(app);
	eddy_events_channel_free(events.channel);
	return r < 0;
}
