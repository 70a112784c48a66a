/* eddy_pg_sessions.h: a store of sessions (eddy/session.h) in a table of PostgreSQL: all processes
 * of a service share it, and it outlives them.
 *
 *     r = eddy_pg_query(&pg, NULL, eddy_pg_sessions_sql, EDDY_PG());   // once: makes the table
 *     eddy_app_use_sessions(app, &(struct eddy_sessions_options){
 *                                        .store = &eddy_pg_sessions, .store_data = &pg });
 *     eddy_app_add_task(app, "sessions", eddy_pg_sessions_expire, &pg);
 *
 * While the database is not there, requests that use their session are answered with 503. The table
 * has no limit of its own: limit the rate of the routes that begin sessions.
 */
#ifndef EDDY_PG_SESSIONS_H
#define EDDY_PG_SESSIONS_H

#include "eddy_pg.h"
#include <eddy/session.h>

EDDY_BEGIN_DECLS

/* Creates the table eddy_sessions, unless it is there. One statement, for eddy_pg_query() or psql. */
extern const char eddy_pg_sessions_sql[];

/* The store. Its .store_data is a pool: a struct eddy_pg. */
extern const struct eddy_session_store eddy_pg_sessions;

/* Delete expired sessions, every 10 min, until the scope is cancelled. Suspends. Several processes
 * may do so. Return: -ECANCELED. */
int eddy_pg_sessions_expire(void *pg);

EDDY_END_DECLS

#endif
