/* eddy_pg_app.h: PostgreSQL in an app of eddy-http: a pool from the app's start to its end, and
 * responses made of rows.
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

EDDY_BEGIN_DECLS

/* A zero field takes its default. */
struct eddy_pg_app {
	/* Read when the app starts, so a configuration file may set them. */
	struct eddy_pg_options options;
	const struct eddy_pg_migration *migrations; /* applied at each start; default: none */
	struct eddy_pg_jobs *jobs; /* run by the app, with a table for them; default: none */
	struct eddy_pg_listener *listener; /* runs in the app; default: none */
	struct eddy_pg pg; /* for handlers; set while the app starts, until it is freed */
};

/* Give a database to an app, which opens the pool when it starts and closes it when it is freed.
 * The app does not start if the database can't be reached, or a migration fails. `own` lives as long
 * as the app; .pg of jobs and listener is set. */
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
