/* eddy_pg_migrate.h: migrations: changes of a database's tables, each applied once and in order.
 *
 *     static const struct eddy_pg_migration migrations[] = {
 *             { "001_users", "create table users (name text primary key);" },
 *             { "002_email", "alter table users add email text;" },
 *             { 0 },
 *     };
 *
 *     r = eddy_pg_migrate(conninfo, migrations);      // at each start
 */
#ifndef EDDY_PG_MIGRATE_H
#define EDDY_PG_MIGRATE_H

#include "eddy_pg.h"

EDDY_BEGIN_DECLS

struct eddy_pg_migration {
	const char *name; /* never changed again; NULL ends a list */
	/* Statements, each ended by a semicolon. They are run as a block of PL/pgSQL, where a query
	 * without a use for its rows begins with `perform` in place of `select`. */
	const char *sql;
};

/* Apply the migrations that are not in the table eddy_migrations yet: all in one transaction, or
 * none. It has a connection of its own, as `conninfo` of eddy_pg_options says, and no deadline.
 * Processes that start at the same time wait for each other. Suspends.
 * Return: as eddy_pg_open() and eddy_pg_query(); ERROR records say why. */
EDDY_CHECKED int eddy_pg_migrate(const char *conninfo, const struct eddy_pg_migration *list);

EDDY_END_DECLS

#endif
