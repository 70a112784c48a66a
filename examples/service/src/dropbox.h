/* The drop box: users keep files, each up to a quota. */
#ifndef DROPBOX_H
#define DROPBOX_H

#include <eddy/auth.h>
#include <eddy/http.h>
#include <eddy/openapi.h>
#include <eddy/runtime.h>
#include <eddy/trace.h>
#include <eddy_pg_app.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct dropbox {
	const char *data_dir, *scan_url; /* settings, of the file's section [dropbox] */
	uint64_t quota;
	uint32_t rate, burst;
	struct eddy_group *api; /* the routes that need a token */
	struct eddy_pg_app database;
	int dir;                            /* data_dir */
	struct eddy_events_channel *events; /* of /events; a user is a topic */
	struct eddy_pg_job_kind kinds[2];
	struct eddy_pg_jobs jobs;
	struct eddy_pg_listener listener; /* to changes of files */
	struct eddy_metric *uploads, *bytes;
};

struct eddy_app *dropbox_app(struct dropbox *box);
void dropbox_map_users(struct eddy_group *api);
void dropbox_map_files(struct eddy_group *api);
int dropbox_checksum(const struct eddy_pg_job *job, void *box); /* a job of each new file */

/* The caller's name. */
static inline struct eddy_str dropbox_caller(const struct eddy_req *req)
{
	return eddy_jwt_str(eddy_req_token(req), "sub");
}

#endif
