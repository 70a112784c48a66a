/* eddy/figure.h: counters and gauges of a layer, registered for export as metrics.
 *
 *     static struct eddyi_figure sold = {
 *             .name = "eddy_shop_sold_total",
 *             .help = "Articles that were sold.",
 *     };
 *
 *     eddyi_figure_offer(&sold, 1);
 *     …
 *     eddyi_figure_add(&sold, 1);
 *
 * Layers do not know one another: a layer registers its counters here, and eddy's metrics export
 * them all (docs/metrics.md). Programs use metrics instead: eddy/metric.h of trace. Any thread may
 * call these functions; none suspends.
 */
#ifndef EDDYI_FIGURE_H
#define EDDYI_FIGURE_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* A counter, or a gauge. Define it static, with the private fields zero. Figures of the same name
 * differ in the value of their label. */
struct eddyi_figure {
	const char *name; /* name of the metric: "eddy_…", of a counter "eddy_…_total" */
	const char *help; /* one sentence, the same for all figures of a name */
	const char *label, *value; /* NULL: none */
	bool is_gauge;             /* default: a counter */
	unsigned decimals; /* as of eddy/metric.h: with 9, nanoseconds are shown as seconds */

	/* Private from here on. */
	uint64_t count;
	struct eddyi_figure *next;
	int is_offered;
};

/* Register figures for export. They must exist until the process ends. Figures that are
 * registered already stay as they are. */
EDDY_API void eddyi_figure_offer(struct eddyi_figure *figures, size_t count);

/* Add to a figure, registered or not. `by` may be negative only for a gauge. */
EDDY_API void eddyi_figure_add(struct eddyi_figure *figure, int64_t by);

/* Read a figure. */
EDDY_API uint64_t eddyi_figure_read(const struct eddyi_figure *figure);

/* Iterate over the registered figures, from the last registered to the first. Return: the one
 * after `figure`, or the first one if it is NULL; NULL at the end. */
EDDY_API const struct eddyi_figure *eddyi_figure_next(const struct eddyi_figure *figure);

EDDY_END_DECLS

#endif
