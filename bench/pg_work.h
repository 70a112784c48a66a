/* pg_work.h: the statements of pg_eddy.c and pg_bare.c; peers/pg.go and peers/pg.mjs have the same. */
#ifndef EDDY_BENCH_PG_WORK_H
#define EDDY_BENCH_PG_WORK_H

#include "micro/micro.h"

#include <string.h>

#define ROW "select id, name, price, stock from items where id = $1"
#define UPDATE "update items set stock = stock + 1 where id = $1"
#define ITEMS 10000
#define PIPELINE 20
/* Calls between two looks at the clock, which is a system call. */
#define CALLS 64

struct work {
	const char *sql;
	int statements; /* of a call */
};

static inline struct work work_of(const char *name)
{
	if (!strcmp(name, "row"))
		return (struct work){ ROW, 1 };
	if (!strcmp(name, "pipeline"))
		return (struct work){ ROW, PIPELINE };
	if (!strcmp(name, "update"))
		return (struct work){ UPDATE, 1 };
	fprintf(stderr, "%s: expected row, pipeline or update\n", name);
	exit(2);
}

/* The keys of successive statements are spread over the table. */
static inline int64_t next_key(void)
{
	static uint64_t number;

	return 1 + (int64_t)(number++ * 7919 % ITEMS);
}

/* A call is done. Return: whether to go on. */
static inline bool call_done(struct micro *micro)
{
	static uint64_t calls;
	static bool ended;

	if (++calls % CALLS == 0 && !ended)
		ended = !micro_goes_on(micro, CALLS);
	return !ended;
}

#endif
