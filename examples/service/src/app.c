#include "dropbox.h"

#include <eddy/compress.h>
#include <eddy/layer.h>
#include <eddy_pg_migrate.h>

extern const struct eddy_pg_migration migrations[]; /* those of migrations/ */

static const struct eddy_config_key keys[] = {
	{ "data_dir", EDDY_CONFIG_PATH, EDDY_CONFIG_AT(struct dropbox, data_dir) },
	{ "database", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct dropbox, database) },
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
	/* With the connections of jobs and listener they are 4; a request waits for 5 s at most. */
	struct eddy_pg_options options = { box->database, .connections_max = 2,
					   .wait_ns = 2 * EDDY_SECOND,
					   .query_ns = 3 * EDDY_SECOND };
	int r;

	eddy_app_use_rate_limit(box->api, &(struct eddy_rate_limit_options){ box->rate,
									     .burst = box->burst });
	eddy_mkdirat(AT_FDCWD, box->data_dir, 0700);
	box->dir = eddy_openat(AT_FDCWD, box->data_dir, O_RDONLY | O_DIRECTORY, 0);
	if (box->dir < 0 || !box->database) {
		eddy_app_mistake(app,
				 "[dropbox] needs a database, and a data_dir that can be made");
		return -EINVAL;
	}
	eddy_upload_clean(box->dir);
	r = eddy_pg_migrate(box->database, migrations);
	if (r == 0)
		r = eddy_pg_open(&options, &box->pg);
	if (r == 0)
		r = eddy_pg_query(&box->pg, NULL, eddy_pg_jobs_sql, EDDY_PG());
	if (r < 0)
		eddy_app_mistake(app, "[dropbox] database: %s", strerror(-r));
	return r;
}

static void end(void *arg)
{
	struct dropbox *box = arg;

	eddy_pg_close(&box->pg);
	close(box->dir);
}

struct eddy_app *dropbox_app(struct dropbox *box)
{
	static const char *const origins[] = { "https://app.example", NULL };
	static const char *const channels[] = { "files", NULL };
	struct eddy_app *app = eddy_app_new();

	*box = (struct dropbox){ .data_dir = "data",
				 .quota = EDDY_GIB,
				 .rate = 50,
				 .burst = 100,
				 .dir = -1,
				 .kinds = { { "checksum", dropbox_checksum, .arg = box } },
				 .jobs = { &box->pg, box->kinds, .concurrency = 1,
					   .grace_ns = 20 * EDDY_SECOND, .drain = true },
				 .listener = { &box->pg, channels, .fn = dropbox_announce,
					       .arg = box },
				 .api = eddy_app_group(app, "") };
	eddy_list_init(&box->streams);
	eddy_metric_declare(&(struct eddy_metric_options){ .name = "dropbox_uploads_total",
							   .help = "Files." },
			    &box->uploads);
	eddy_metric_declare(&(struct eddy_metric_options){ .name = "dropbox_bytes_total",
							   .help = "Bytes." },
			    &box->bytes);

	eddy_app_bind(app, "localhost:7979");
	/* The list of streams has no lock. To use more processors, run more processes. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(app, box);
	eddy_app_config_section(app, &section, box);
	eddy_app_at_start(app, start, box);
	eddy_app_at_free(app, end, box);
	eddy_app_add_task(app, "jobs", eddy_pg_jobs_run, &box->jobs);
	eddy_app_add_task(app, "listen", eddy_pg_listen, &box->listener);

	eddy_app_set_tracing(app,
			     &(struct eddy_tracing_options){ .header = true, .access_log = true });
	eddy_app_use_tracing(app);
	eddy_app_use_metrics(app);
	eddy_app_use_compression(app, NULL);
	eddy_app_use_security(app, NULL);
	eddy_app_use_cors(app, &(struct eddy_cors_options){ .origins = origins });
	eddy_app_use_openapi(app, &(struct eddy_openapi_options){ .title = "Drop box" });
	eddy_app_map_get(app, "/healthz", eddy_health);
	eddy_app_map_get(app, "/metrics", eddy_metrics);
	eddy_app_authorize(box->api, NULL);
	dropbox_map_users(box->api);
	dropbox_map_files(box->api);
	dropbox_map_events(box->api);
	return app;
}
