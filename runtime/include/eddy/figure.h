/* eddy/figure.h: what a layer counts, offered to whoever shows it.
 *
 *     static struct eddy_figure sold = {
 *             .name = "eddy_shop_sold_total",
 *             .help = "Articles that were sold.",
 *     };
 *
 *     eddy_figure_offer(&sold, 1);
 *     …
 *     eddy_figure_add(&sold, 1);
 *
 * Layers do not know one another: one that counts offers its figures here, and eddy's metrics show all that were
 * offered (docs/metrics.md). A program's own are metrics: eddy/metric.h of trace.
 */
#ifndef EDDY_FIGURE_H
#define EDDY_FIGURE_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* One that only goes up; static, zero beyond what is named. Several of a name differ in the value of their label. */
struct eddy_figure {
	const char *name;          /* of a metric: "eddy_…_total" */
	const char *help;          /* a sentence, the same for all of a name */
	const char *label, *value; /* NULL: none */

	/* eddy's own: */
	uint64_t count;
	struct eddy_figure *next;
	int is_offered;
};

/* Offer figures, which stay until the process ends; those that are there already stay as they are. Any thread. */
EDDY_API void eddy_figure_offer(struct eddy_figure *figures, size_t count);

/* Count, offered or not. Any thread, never suspends. */
EDDY_API void eddy_figure_add(struct eddy_figure *figure, uint64_t by);

/* Read what was counted so far. Any thread, never suspends. */
EDDY_API uint64_t eddy_figure_read(const struct eddy_figure *figure);

/* Go through those that are offered, the last one first. Return: the one behind `figure`; the first for NULL; NULL
 * behind the last. */
EDDY_API const struct eddy_figure *eddy_figure_next(const struct eddy_figure *figure);

EDDY_END_DECLS

#endif
