/* tables.h: the tables and lines of a report, whatever form it has. */
#ifndef EDDY_BENCH_TABLES_H
#define EDDY_BENCH_TABLES_H

#include "result.h"
#include "table.h"
#include "verdict.h"

/* What all forms of a report say of their figures. */
#define TABLES_NOTE                                                                                                             \
	"Medians of rounds in which targets took turns. CPU time is of the server's process, all its threads, for each GiB or " \
	"request: the steadiest figure. A ratio is the median of the rounds' own ratios, followed by its 95 % interval."

/* Every goal, what came of it, and the verdict. Return: NULL where there are no goals; to be freed. */
struct table *tables_goals(const struct result *result);

/* What was measured, in the cells of a group: a line for each target. `group` may be NULL. With `all`, every figure
 * that there is, and how far rounds lay apart. To be freed. */
struct table *tables_figures(const struct result *result, const char *group, bool all);

/* How many goals have which verdict. Return: how many there are. */
size_t tables_count(const struct result *result, size_t counts[VERDICTS]);

/* "31 goals: 24 met, 3 met within noise, …". To be freed; NULL without goals. */
char *tables_verdicts(const struct result *result);

/* "AMD EPYC, 2 processors, 24 GiB, kvm, Linux 6.18", and "7 rounds of 0.5 s each; the server on processor 0, the client
 * on processor 1". To be freed. */
char *tables_machine(const struct result *result);
char *tables_settings(const struct result *result);

/* The groups, in the order of their first cells. Call until it returns false; `*at` is 0 before. */
bool tables_next_group(const struct result *result, size_t *at, const char **ret_group);

/* Whether a cell is of the group. */
bool tables_is_of(const struct cell *cell, const char *group);

#endif
