#include "dropbox.h"

extern const struct eddy_pg_migration migrations[]; /* migrations/, by embed.py */

static const struct eddy_config_key keys[] = {
	{ "data_dir", EDDY_CONFIG_PATH, EDDY_CONFIG_AT(struct dropbox, data_dir) },
	{ "database", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct dropbox, database) },
	{ "scan_url", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct dropbox, scan_url) },
	{ "quota", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct dropbox, quota), .min = 1 },
	{ "rate", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct dropbox, rate), .min = 1 },
	{ "burst", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct dropbox, burst), .min = 1 },
	{ 0 },
};
static const struct eddy_config_section section = { .name = "dropbox", .keys = keys };

/* Open what the settings name. Nothing listens before this has succeeded. */
static int start(struct eddy_app *app, void *arg)
{
	struct dropbox *box = arg;
	int r;

	eddy_app_use_rate_limit(box->api, &(struct eddy_rate_limit_options){ .count = box->rate,
									     .burst = box->burst });
	eddy_mkdirat(AT_FDCWD, box->data_dir, 0700);
	box->dir = eddy_openat(AT_FDCWD, box->data_dir, O_RDONLY | O_DIRECTORY, 0);
	if (box->dir < 0) {
		eddy_app_mistake(app, "data_dir %s: %s", box->data_dir, strerror(-box->dir));
		return box->dir;
	}
	eddy_upload_clean(box->dir);
	/* At most 4 connections, with those of the listener and of the jobs. A request waits at
	 * most 5 s for the database. */
	r = eddy_pg_open(&(struct eddy_pg_options){ .conninfo = box->database,
						    .connections_max = 2,
						    .wait_ns = 2 * EDDY_SECOND,
						    .query_ns = 3 * EDDY_SECOND },
			 &box->pg);
	if (r == 0)
		r = eddy_pg_migrate(&box->pg, migrations);
	if (r == 0)
		r = eddy_pg_query(&box->pg, NULL, eddy_pg_jobs_sql, EDDY_PG());
	if (r < 0)
		eddy_app_mistake(app, "database: %s", eddy_pg_error(&box->pg));
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
	struct eddy_app *app = eddy_app_new();
	struct eddy_pg_job_kind *kinds = eddy_app_alloc(app, 2 * sizeof(*kinds));
	struct eddy_pg_jobs *jobs = eddy_app_alloc(app, sizeof(*jobs));
	struct eddy_pg_listener *listener = eddy_app_alloc(app, sizeof(*listener));
	static const char *const origins[] = { "https://app.example", NULL };
	static const char *const channels[] = { "files", NULL };

	*box = (struct dropbox){
		.data_dir = "data", .quota = EDDY_GIB, .rate = 50, .burst = 100, .dir = -1
	};
	eddy_list_init(&box->streams);
	eddy_metric_declare(&(struct eddy_metric_options){ .name = "dropbox_uploads_total",
							   .help = "Files stored." },
			    &box->uploads);
	eddy_metric_declare(&(struct eddy_metric_options){ .name = "dropbox_bytes_total",
							   .help = "Bytes of files stored." },
			    &box->bytes);

	eddy_app_bind(app, "localhost:7979");
	/* `streams` has no lock. Run several processes rather than workers. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(app, box);
	eddy_app_config_section(app, &section, box);
	eddy_auth_config(app);
	eddy_app_at_start(app, start, box);
	eddy_app_at_free(app, end, box);

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

	box->api = eddy_app_group(app, "");
	eddy_app_authorize(box->api, NULL);
	dropbox_map_users(box);
	dropbox_map_files(box);
	dropbox_map_events(box);

	kinds[0] = (struct eddy_pg_job_kind){ .name = "checksum",
					      .run = dropbox_checksum,
					      .arg = box };
	*jobs = (struct eddy_pg_jobs){ .pg = &box->pg,
				       .kinds = kinds,
				       .concurrency = 1,
				       .drain = true,
				       .grace_ns = 20 * EDDY_SECOND };
	*listener = (struct eddy_pg_listener){
		.pg = &box->pg, .channels = channels, .fn = dropbox_announce, .arg = box
	};
	eddy_app_add_task(app, "jobs", eddy_pg_jobs_run, jobs);
	eddy_app_add_task(app, "listen", eddy_pg_listen, listener);
	return app;
}
