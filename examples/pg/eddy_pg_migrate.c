#include "eddy_pg_migrate.h"

#include <eddy/log.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET "eddy::pg"
#define BEGIN "do $eddy_migration$ begin\n"
#define END "\nend $eddy_migration$"

static const char table_sql[] = "do $$ begin\n"
				"perform pg_advisory_xact_lock(hashtext('eddy_migrations'));\n"
				"if to_regclass('eddy_migrations') is null then\n"
				"create table eddy_migrations (name text primary key,\n"
				"	applied_at timestamptz not null default now());\n"
				"end if;\n"
				"end $$";

static int apply(struct eddy_pg *tx, const struct eddy_pg_migration *migration)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	size_t size;
	char *sql;
	int r = eddy_pg_query(tx, &rows,
			      "insert into eddy_migrations values ($1) on conflict do nothing",
			      EDDY_PG(migration->name));

	if (r < 0 || rows.affected == 0)
		return r;
	size = strlen(migration->sql) + sizeof(BEGIN END);
	sql = malloc(size);
	if (!sql)
		return -ENOMEM;
	snprintf(sql, size, BEGIN "%s" END, migration->sql);
	r = eddy_pg_query(tx, NULL, sql, EDDY_PG());
	free(sql);
	if (r < 0)
		eddy_error(TARGET, "migration %s fails", migration->name);
	else
		eddy_info(TARGET, "migration %s is applied", migration->name);
	return r;
}

static int apply_all(struct eddy_pg *pg, const struct eddy_pg_migration *list)
{
	EDDY_AUTO(eddy_pg_end) struct eddy_pg tx = { 0 };
	int r = eddy_pg_begin(pg, NULL, &tx);

	if (r == 0)
		r = eddy_pg_query(&tx, NULL, table_sql, EDDY_PG());
	for (; r == 0 && list->name; list++)
		r = apply(&tx, list);
	return r == 0 ? eddy_pg_commit(&tx) : r;
}

int eddy_pg_migrate(const char *conninfo, const struct eddy_pg_migration *list)
{
	struct eddy_pg_options options = { .conninfo = conninfo,
					   .connections_max = 1,
					   .query_ns = EDDY_NEVER };
	struct eddy_pg pg;
	int r = eddy_pg_open(&options, &pg);

	if (r < 0)
		return r;
	r = apply_all(&pg, list);
	if (r < 0)
		eddy_error(TARGET, "migrations fail: %s", eddy_pg_error(&pg));
	eddy_pg_close(&pg);
	return r;
}
