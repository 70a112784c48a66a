/* pg_eddy: queries by examples/pg, for pg.py.
 *
 *     pg_eddy CONNINFO row|pipeline|update TASKS CONNECTIONS SECONDS
 *
 * TASKS tasks share a pool of CONNECTIONS connections. Prints the processor time of a call.
 */
#include "pg_work.h"

#include <eddy/runtime.h>
#include <eddy_pg.h>

struct item {
	int64_t id;
	struct eddy_str name;
	double price;
	int64_t stock;
};

static const struct eddy_member item_members[] = {
	EDDY_MEMBER(struct item, id),
	EDDY_MEMBER(struct item, name),
	EDDY_MEMBER(struct item, price),
	EDDY_MEMBER(struct item, stock),
};

static struct eddy_pg pg;
static struct work work;
static struct micro micro;
static unsigned long tasks;

static int ask_one(void)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	int64_t id = next_key();
	struct item item;
	int r = eddy_pg_one(&pg, &rows, item_members, &item, work.sql, EDDY_PG(id));

	return r == 0 && (item.id != id || !item.name.len) ? -EBADMSG : r;
}

static int ask_many(void)
{
	struct eddy_pg_value keys[PIPELINE];
	struct eddy_pg_statement list[PIPELINE];
	struct item item;
	int r;

	for (int i = 0; i < work.statements; i++) {
		keys[i] = EDDY_PG_VALUE(next_key());
		list[i] = (struct eddy_pg_statement){ .sql = work.sql, .params = { &keys[i], 1 } };
	}
	r = eddy_pg_pipeline(&pg, list, (size_t)work.statements);
	if (r < 0)
		return r;
	for (int i = 0; i < work.statements; i++) {
		if (r == 0)
			r = eddy_pg_row_into(&list[i].rows, 0, item_members, &item);
		eddy_pg_rows_deinit(&list[i].rows);
	}
	return r;
}

static int update(void)
{
	return eddy_pg_query(&pg, NULL, work.sql, EDDY_PG(next_key()));
}

static int ask(void *arg)
{
	int (*call)(void) = work.statements > 1 ? ask_many : work.sql[0] == 'u' ? update : ask_one;
	int r;

	(void)arg;
	do
		r = call();
	while (r == 0 && call_done(&micro));
	return r;
}

static int all(void *arg)
{
	struct eddy_scope scope;
	int r = 0;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	for (unsigned long i = 0; r == 0 && i < tasks; i++)
		r = eddy_scope_spawn(&scope, "ask", ask, NULL);
	if (r == 0)
		r = eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

int main(int argc, char **argv)
{
	int r;

	if (argc != 6)
		return 2;
	work = work_of(argv[2]);
	tasks = strtoul(argv[3], NULL, 10);
	micro = micro_begin(atof(argv[5]));
	r = eddy_pg_open(&(struct eddy_pg_options){ .conninfo = argv[1],
						    .connections_max = (unsigned)atoi(argv[4]) },
			 &pg);
	if (r == 0)
		r = eddy_run(NULL, all, NULL);
	eddy_pg_close(&pg);
	if (r < 0) {
		fprintf(stderr, "pg_eddy: %s\n", strerror(-r));
		return 1;
	}
	micro_print(&micro);
	return 0;
}
