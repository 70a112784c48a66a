/* Programs of test_pg.py, which run one case:
 *
 *     PROGRAM CONNINFO CASE
 */
#ifndef PG_CASES_H
#define PG_CASES_H

#include <eddy/metric.h>
#include <eddy/runtime.h>
#include <eddy_pg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(cond)                                                                               \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s: %s\n", EDDY_HERE, #cond);                             \
			return -1;                                                                 \
		}                                                                                  \
	} while (0)
#define EXPECT_EQ(found, wanted)                                                                   \
	do {                                                                                       \
		long long found_ = (found), wanted_ = (wanted);                                    \
		if (found_ != wanted_) {                                                           \
			fprintf(stderr, "%s: %s is %lld, not %lld\n", EDDY_HERE, #found, found_,   \
				wanted_);                                                          \
			return -1;                                                                 \
		}                                                                                  \
	} while (0)
#define ROWS EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows

static const char *conninfo;
static struct eddy_pg pool;

static inline int open_with(struct eddy_pg_options options)
{
	eddy_pg_close(&pool);
	options.conninfo = conninfo;
	return eddy_pg_open(&options, &pool);
}

/* Ask for a number. Return: it; -errno. */
static inline int64_t number(struct eddy_pg *from, const char *sql)
{
	ROWS rows = { 0 };
	int64_t value;
	int r = eddy_pg_query(from, &rows, sql, EDDY_PG());

	if (r == 0)
		r = eddy_pg_row(&rows, 0, EDDY_TO(&value));
	return r < 0 ? r : value;
}

static inline int run_sql(struct eddy_pg *on, const char *sql)
{
	return eddy_pg_query(on, NULL, sql, EDDY_PG());
}

static inline bool is(struct eddy_str str, const char *z)
{
	return eddy_str_eq_z(str, z);
}

/* Whether EDDY_CHAOS makes calls fail. */
static inline bool calls_fail(void)
{
	const char *chaos = getenv("EDDY_CHAOS");

	return chaos && strstr(chaos, "errors");
}

/* Ask for a number until a call does not fail. */
static inline int64_t surely(const char *sql)
{
	int64_t value = -1;

	for (int i = 0; i < 100 && value < 0; i++)
		value = number(&pool, sql);
	return value;
}

/* Run a statement that may be repeated until a call does not fail. */
static inline int make_sure(const char *sql)
{
	int r = -1;

	for (int i = 0; i < 100 && r < 0; i++)
		r = run_sql(&pool, sql);
	return r;
}

/* Wait until a query gives this number. */
static inline int eventually(const char *sql, int64_t wanted)
{
	for (int i = 0; i < 400; i++) {
		if (number(&pool, sql) == wanted)
			return 0;
		eddy_sleep(50 * EDDY_MS);
	}
	EXPECT_EQ(number(&pool, sql), wanted);
	return 0;
}

/* Find a line in the metrics of the process. */
static inline bool counts(const char *line)
{
	bool is_there = false;
	size_t len;
	char *text;

	if (eddy_metric_text(&text, &len) == 0) {
		is_there = strstr(text, line);
		free(text);
	}
	return is_there;
}

struct pg_case {
	const char *name; /* NULL ends a list */
	int (*run)(void);
};

struct pg_chosen {
	const struct pg_case *cases;
	const char *name;
};

static int pg_run(void *arg)
{
	const struct pg_chosen *chosen = arg;
	int r = open_with((struct eddy_pg_options){ 0 });

	for (const struct pg_case *at = chosen->cases; at->name && r == 0; at++)
		if (!strcmp(at->name, chosen->name))
			r = at->run();
	return r;
}

static int pg_main(int argc, char **argv, const struct pg_case *cases)
{
	struct pg_chosen chosen = { cases, argv[2] };
	int r;

	if (argc != 3)
		return 2;
	conninfo = argv[1];
	eddy_log_text_subscribe();
	r = eddy_run(NULL, pg_run, &chosen);
	eddy_pg_close(&pool);
	return r < 0 ? 1 : 0;
}

#endif
