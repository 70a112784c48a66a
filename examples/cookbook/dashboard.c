/* dashboard: figures of a server, each second, in a page of its own (server-sent events).
 *
 *     $ dashboard localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -sN localhost:7878/figures | head -n 2
 *     id: …
 *     data: {"connections":…,"accepted":…,"greetings":…}
 *     $ curl -s localhost:7878/hello
 *     hello
 *     $ curl -sN localhost:7878/figures | grep -m 1 -o '"greetings":1'
 *     "greetings":1
 *     $ curl -s localhost:7878 | grep -o 'new EventSource.*)'
 *     new EventSource('/figures')
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <stdatomic.h>
#include <stdio.h>

static const char page[] =
	"<!doctype html><title>dashboard</title><pre id=\"figures\"></pre><script>\n"
	"const events = new EventSource('/figures');\n"
	"events.onmessage = event => {\n"
	"	figures.textContent = JSON.stringify(JSON.parse(event.data), null, 2);\n"
	"};\n"
	"</script>\n";

struct dashboard {
	struct eddy_app *app;
	struct eddy_events_channel *channel;
	atomic_uint greetings;
};

/* Without subscribers it costs a message a second. */
static int publish(void *arg)
{
	struct dashboard *dashboard = arg;
	struct eddy_ticker ticker;
	char json[100];

	eddy_ticker_init(&ticker, EDDY_SECOND);
	while (eddy_ticker_next(&ticker) > 0) {
		struct eddy_app_stats stats = eddy_app_stats(dashboard->app);
		struct eddy_events_message message = { 0 };

		snprintf(json, sizeof(json),
			 "{\"connections\":%llu,\"accepted\":%llu,\"greetings\":%u}",
			 (unsigned long long)stats.connections, (unsigned long long)stats.accepted,
			 atomic_load(&dashboard->greetings));
		message.data = eddy_str_from(json);
		if (eddy_events_publish(dashboard->channel, &message) < 0)
			eddy_warn("dashboard", "figures of a second are missing");
	}
	return 0;
}

/* GET /figures */
static int figures(struct eddy_req *req, struct eddy_res *res)
{
	struct dashboard *dashboard = eddy_req_context(req);

	return eddy_events_subscribe(dashboard->channel, res);
}

/* GET /hello */
static int hello(struct eddy_req *req, struct eddy_res *res)
{
	struct dashboard *dashboard = eddy_req_context(req);

	atomic_fetch_add(&dashboard->greetings, 1);
	return eddy_res_ok(res, "hello\n");
}

/* GET / */
static int show(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_bytes(res, "text/html; charset=utf-8", eddy_str_from(page));
}

int main(int argc, char **argv)
{
	struct dashboard dashboard = { .app = eddy_app_new() };
	int r;

	/* A page that connects gets the last figures at once. */
	dashboard.channel = eddy_events_channel_new(
		&(struct eddy_events_channel_options){ .replay_max = 1, .greets = true });
	if (!dashboard.channel)
		return 1;
	eddy_log_text_subscribe();
	eddy_app_bind(dashboard.app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_set_context(dashboard.app, &dashboard);
	eddy_app_add_task(dashboard.app, "publish", publish, &dashboard);
	eddy_app_map_get(dashboard.app, "/", show);
	eddy_app_map_get(dashboard.app, "/hello", hello);
	eddy_app_map_get(dashboard.app, "/figures", figures);
	r = eddy_app_run_blocking(dashboard.app);
	eddy_events_channel_free(dashboard.channel);
	return r < 0 ? 1 : 0;
}
