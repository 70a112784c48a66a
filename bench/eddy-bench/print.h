/* print.h: a report for a terminal, or as Markdown. */
#ifndef EDDY_BENCH_PRINT_H
#define EDDY_BENCH_PRINT_H

#include "result.h"
#include "table.h"

/* Print the whole report; `form` is not TABLE_HTML. */
void print_report(const struct result *result, FILE *file, enum table_form form);

#endif
