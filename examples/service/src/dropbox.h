/* The drop box: users keep files here, each up to a quota. */
#ifndef DROPBOX_H
#define DROPBOX_H

#include <eddy/auth.h>
#include <eddy/compress.h>
#include <eddy/http.h>
#include <eddy/layer.h>
#include <eddy/openapi.h>
#include <eddy/runtime.h>
#include <eddy/trace.h>
#include <eddy_pg_jobs.h>
#include <eddy_pg_migrate.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct dropbox {
	/* Settings, section [dropbox] of the configuration file: */
	const char *data_dir, *database, *scan_url;
	uint64_t quota;
	uint32_t rate, burst;
	/* Set by the app: */
	struct eddy_group *api; /* routes that need a token */
	struct eddy_pg pg;
	int dir;                  /* data_dir */
	struct eddy_node streams; /* those of /events */
	struct eddy_metric *uploads, *bytes;
};

/* Make the app. `box` has zeros, or settings that the configuration file does not need to have. */
struct eddy_app *dropbox_app(struct dropbox *box);

/* Each file maps its routes. */
void dropbox_map_users(struct dropbox *box);
void dropbox_map_files(struct dropbox *box);
void dropbox_map_events(struct dropbox *box);

int dropbox_checksum(const struct eddy_pg_job *job, void *box); /* a job */
/* Send a notification of the table's trigger to the streams of the file's owner. */
void dropbox_announce(void *box, const struct eddy_pg_notification *item);

/* The caller's name. */
static inline struct eddy_str dropbox_caller(const struct eddy_req *req)
{
	return eddy_jwt_str(eddy_req_token(req), "sub");
}

#endif
