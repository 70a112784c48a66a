/* eddy_pg_app.h: PostgreSQL in an app of eddy-http: a pool from the app's start to its end,
 * responses made of rows, and notifications as server-sent events.
 *
 *     static struct eddy_pg_app database = { .migrations = migrations };
 *
 *     static int list(struct eddy_req *req, struct eddy_res *res)
 *     {
 *             return eddy_pg_respond(res, &database.pg, EDDY_SHAPE(struct user, user_members),
 *                                    "select name, age from users order by name", EDDY_PG());
 *     }
 *
 *     eddy_pg_use(app, &database);
 *     eddy_app_map_get(app, "/users", list);
 */
#ifndef EDDY_PG_APP_H
#define EDDY_PG_APP_H

#include "eddy_pg_jobs.h"
#include "eddy_pg_migrate.h"
#include <eddy/app.h>
#include <eddy/events.h>

EDDY_BEGIN_DECLS

/* A zero field takes its default. */
struct eddy_pg_app {
	/* Read when the app starts, so a configuration file may set them. */
	struct eddy_pg_options options;
	/* Applied at each start, when the table of .jobs is there; default: none. */
	const struct eddy_pg_migration *migrations;
	/* Jobs that the app runs; .pg is set. Their table is created. Default: none. */
	struct eddy_pg_jobs *jobs;
	/* A channel of NOTIFY whose payloads are "DATA TOPIC", such as "{\"id\":1} ada": all
	 * processes publish them as events. DATA has no space. Default: none. */
	const char *notify;

	/* Set by eddy_pg_use(), for handlers: */
	struct eddy_pg pg;                  /* while the app starts, and from then on */
	struct eddy_events_channel *events; /* of .notify */

	const char *channels[2];          /* private */
	struct eddy_pg_listener listener; /* private */
};

/* Open a pool when the app starts, and close it when the app is freed. The app does not start if the
 * database can't be reached, or a migration fails. `own` must live as long as the app. */
void eddy_pg_use(struct eddy_app *app, struct eddy_pg_app *own);

/* Answer with the rows of a query as an array of JSON objects, or with the first row as an object.
 * `shape` is EDDY_SHAPE() of a struct, which the rows are read into first. Suspends.
 * Return: as eddy_pg_query(), eddy_pg_row_into() and eddy_res_json_array(); -ENOENT if there is no
 * first row. */
EDDY_CHECKED int eddy_pg_respond(struct eddy_res *res, struct eddy_pg *pg,
				 const struct eddy_shape *shape, const char *sql,
				 struct eddy_pg_params params);
EDDY_CHECKED int eddy_pg_respond_one(struct eddy_res *res, struct eddy_pg *pg,
				     const struct eddy_shape *shape, const char *sql,
				     struct eddy_pg_params params);

EDDY_END_DECLS

#endif
