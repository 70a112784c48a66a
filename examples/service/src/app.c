#include "dropbox.h"

#include <eddy/compress.h>
#include <eddy/layer.h>

extern const struct eddy_pg_migration migrations[]; /* those of migrations/ */

/* The defaults. With those of jobs and events there are 4 connections. */
struct dropbox dropbox = {
	.data_dir = "data",
	.quota = EDDY_GIB,
	.rate = 50,
	.burst = 100,
	.database = { .options = { .connections_max = 2,
				   .wait_ns = 2 * EDDY_SECOND,
				   .query_ns = 3 * EDDY_SECOND },
		      .migrations = migrations,
		      .jobs = &dropbox_jobs,
		      .notify = "files" },
};

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

/* Apply the settings. The configuration file has been read, and nothing listens yet. */
static int start(struct eddy_app *app, void *arg)
{
	(void)arg;
	eddy_app_use_rate_limit(dropbox.api, &(struct eddy_rate_limit_options){
						     dropbox.rate, .burst = dropbox.burst });
	eddy_mkdirat(AT_FDCWD, dropbox.data_dir, 0700);
	dropbox.dir = eddy_openat(AT_FDCWD, dropbox.data_dir, O_RDONLY | O_DIRECTORY, 0);
	if (dropbox.dir < 0)
		eddy_app_mistake(app, "[dropbox] data_dir: %s", strerror(-dropbox.dir));
	else
		eddy_upload_clean(dropbox.dir);
	return dropbox.dir < 0 ? dropbox.dir : 0;
}

static int get_events(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_events_subscribe_to(dropbox.database.events, dropbox_caller(req), res);
}

struct eddy_app *dropbox_app(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_bind(app, "localhost:7979");
	eddy_app_config_section(app, &section, &dropbox);
	eddy_app_at_start(app, start, NULL);
	eddy_pg_use(app, &dropbox.database);

	eddy_app_set_tracing(app,
			     &(struct eddy_tracing_options){ .header = true, .access_log = true });
	eddy_app_use_tracing(app);
	eddy_app_use_metrics(app);
	eddy_app_use_security(app, NULL);
	eddy_app_use_cors(
		app, &(struct eddy_cors_options){ .origins = EDDY_LIST("https://app.example") });
	eddy_app_use_compression(app, NULL);
	eddy_app_use_openapi(app, &(struct eddy_openapi_options){ .title = "Drop box" });
	eddy_app_map_get(app, "/healthz", eddy_health);
	eddy_app_map_get(app, "/metrics", eddy_metrics);

	dropbox.api = eddy_app_group(app, "");
	eddy_app_authorize(dropbox.api, NULL);
	dropbox_map_users(dropbox.api);
	dropbox_map_files(dropbox.api);
	eddy_route_describe(
		eddy_app_map_get(dropbox.api, "/events", get_events),
		&(struct eddy_operation){ .summary = "Follow changes of your files",
					  .responses = { { 200, "Server-sent events.",
							   .type = "text/event-stream" } } });
	return app;
}
