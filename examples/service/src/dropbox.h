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

struct dropbox {
	const char *data_dir, *scan_url; /* settings, of the file's section [dropbox] */
	uint64_t quota;
	uint32_t rate, burst;
	struct eddy_pg_app database;
	struct eddy_group *api; /* the routes that need a token */
	int dir;                /* data_dir */
};

extern struct dropbox dropbox;

struct eddy_app *dropbox_app(void);
void dropbox_map_users(struct eddy_group *api);
void dropbox_map_files(struct eddy_group *api);
extern struct eddy_pg_jobs dropbox_jobs;

/* The caller's name. */
static inline struct eddy_str dropbox_caller(const struct eddy_req *req)
{
	return eddy_jwt_str(eddy_req_token(req), "sub");
}

#endif
