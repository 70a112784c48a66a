#include "dropbox.h"

#include <eddy/compress.h>
#include <eddy/layer.h>

extern const struct eddy_pg_migration migrations[]; /* those of migrations/ */

static const struct eddy_config_key keys[] = {
	{ "data_dir", EDDY_CONFIG_PATH, EDDY_CONFIG_AT(struct dropbox, data_dir) },
	{ "database", EDDY_CONFIG_STRING,
	  EDDY_CONFIG_AT(struct dropbox, database.options.conninfo) },
	{ "scan_url", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct dropbox, scan_url) },
	{ "quota", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct dropbox, quota), .min = 1 },
	{ "rate", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct dropbox, rate), .min = 1 },
	{ "burst", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct dropbox, burst), .min = 1 },
	{ 0 }
};
static const struct eddy_config_section section = { .name = "dropbox", .keys = keys };

/* The configuration file has been read, and nothing listens yet. */
static int start(struct eddy_app *app, void *arg)
{
	struct dropbox *box = arg;

	eddy_app_use_rate_limit(box->api, &(struct eddy_rate_limit_options){ box->rate,
									     .burst = box->burst });
	eddy_mkdirat(AT_FDCWD, box->data_dir, 0700);
	box->dir = eddy_openat(AT_FDCWD, box->data_dir, O_RDONLY | O_DIRECTORY, 0);
	if (box->dir < 0)
		eddy_app_mistake(app, "[dropbox] data_dir: %s", strerror(-box->dir));
	else
		eddy_upload_clean(box->dir);
	return box->dir < 0 ? box->dir : 0;
}

static void end(void *arg)
{
	struct dropbox *box = arg;

	eddy_events_channel_free(box->events);
	close(box->dir);
}

static int get_events(struct eddy_req *req, struct eddy_res *res)
{
	struct dropbox *box = eddy_req_context(req);

	return eddy_events_subscribe_to(box->events, dropbox_caller(req), res);
}

/* "JSON OWNER", of a changed file; "" once connected. */
static void announce(void *arg, const struct eddy_pg_notification *item)
{
	struct dropbox *box = arg;
	struct eddy_events_message message = { .topic = eddy_str_from(item->payload) };

	if (eddy_str_split(&message.topic, ' ', &message.data))
		eddy_events_publish(box->events, &message);
}

struct eddy_app *dropbox_app(struct dropbox *box)
{
	static const struct eddy_operation events = {
		.summary = "Follow changes of your files",
		.responses = { { 200, "Server-sent events.", .type = "text/event-stream" } }
	};
	static const char *const channels[] = { "files", NULL };
	struct eddy_app *app = eddy_app_new();

	*box = (struct dropbox){
		.data_dir = "data",
		.quota = EDDY_GIB,
		.rate = 50,
		.burst = 100,
		.dir = -1,
		.api = eddy_app_group(app, ""),
		.events = eddy_events_channel_new(NULL),
		.kinds = { { "checksum", dropbox_checksum, .arg = box } },
		.jobs = { .kinds = box->kinds,
			  .concurrency = 1,
			  .grace_ns = 20 * EDDY_SECOND,
			  .drain = true },
		.listener = { .channels = channels, .fn = announce, .arg = box },
		/* With those of jobs and listener there are 4 connections. */
		.database = { .options = { .connections_max = 2,
					   .wait_ns = 2 * EDDY_SECOND,
					   .query_ns = 3 * EDDY_SECOND },
			      .migrations = migrations,
			      .jobs = &box->jobs,
			      .listener = &box->listener },
	};
	eddy_metric_declare(&(struct eddy_metric_options){ .name = "dropbox_uploads_total",
							   .help = "Files." },
			    &box->uploads);
	eddy_metric_declare(&(struct eddy_metric_options){ .name = "dropbox_bytes_total",
							   .help = "Bytes." },
			    &box->bytes);

	eddy_app_bind(app, "localhost:7979");
	eddy_app_set_context(app, box);
	eddy_app_config_section(app, &section, box);
	eddy_app_at_start(app, start, box);
	eddy_app_at_free(app, end, box);
	eddy_pg_use(app, &box->database);

	eddy_app_set_tracing(app,
			     &(struct eddy_tracing_options){ .header = true, .access_log = true });
	eddy_app_use_tracing(app);
	eddy_app_use_metrics(app);
	eddy_app_use_compression(app, NULL);
	eddy_app_use_security(app, NULL);
	eddy_app_use_cors(
		app, &(struct eddy_cors_options){ .origins = EDDY_LIST("https://app.example") });
	eddy_app_use_openapi(app, &(struct eddy_openapi_options){ .title = "Drop box" });
	eddy_app_authorize(box->api, NULL);

	eddy_app_map_get(app, "/healthz", eddy_health);
	eddy_app_map_get(app, "/metrics", eddy_metrics);
	eddy_route_describe(eddy_app_map_get(box->api, "/events", get_events), &events);
	dropbox_map_users(box->api);
	dropbox_map_files(box->api);
	return app;
}
