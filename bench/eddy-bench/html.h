/* html.h: a report as one page, which needs nothing else. */
#ifndef EDDY_BENCH_HTML_H
#define EDDY_BENCH_HTML_H

#include "result.h"
#include "svg.h"

/* Write the page: well-formed XML as well, no script, nothing from elsewhere. All text of the result is escaped. */
void html_report(const struct result *result, FILE *file);

/* The charts of a cell, and those over all of them; parts of it. */
void html_cell_charts(struct svg *svg, const struct result *result, const struct cell *cell);
void html_latency_charts(struct svg *svg, const struct result *result, const struct cell *cell);
void html_size_charts(struct svg *svg, const struct result *result);

#endif
