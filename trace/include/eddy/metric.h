/* eddy/metric.h: counters, gauges and histograms, and their text as Prometheus reads it.
 *
 *     static struct eddy_metric *sold;
 *
 *     eddy_metric_declare(&(struct eddy_metric_options){
 *             .name = "shop_articles_sold_total",
 *             .help = "Articles that were sold.",
 *             .labels = EDDY_METRIC_LABELS({ "kind", "book" }) }, &sold);
 *     …
 *     eddy_metric_add(sold, 1);
 *
 * Every thread counts for itself, without a lock; who reads adds up. What a thread has counted outlives it, and
 * a metric lives as long as the process: declare those that there are, not one for each customer. Those of eddy
 * itself are listed in docs/metrics.md; metrics.h puts all of them on the wire.
 */
#ifndef EDDY_METRIC_H
#define EDDY_METRIC_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_metric;

enum eddy_metric_type {
	EDDY_METRIC_COUNTER,   /* how often, or how much: it never goes down */
	EDDY_METRIC_GAUGE,     /* how many there are now */
	EDDY_METRIC_HISTOGRAM, /* how much it was each time */
};

struct eddy_metric_label {
	const char *
		name; /* letters, digits and '_', no digit first; not "le", nor with "__" in front */
	const char *value; /* any text; bytes that are no UTF-8 become U+FFFD */
};

/* A list of labels. C alone has it: from C++ give an array that ends with a label whose name is NULL. */
#define EDDY_METRIC_LABELS(...) ((const struct eddy_metric_label[]){ __VA_ARGS__, { NULL, NULL } })

#define EDDY_METRIC_LABELS_MAX 8
#define EDDY_METRIC_BOUNDS_MAX 32

/* All of it is copied. */
struct eddy_metric_options {
	/* Letters, digits, '_' and ':', no digit first. That of a counter ends with "_total", others do not, nor
	 * with "_bucket", "_count" or "_sum". Those that begin with "eddy_" and "process_" are eddy's. */
	const char *name;
	const char *help; /* a sentence; of metrics of one name that of the first is shown */
	enum eddy_metric_type type;             /* default: a counter */
	const struct eddy_metric_label *labels; /* ends with one whose name is NULL; default: none */
	/* What is counted is so many decimal places of what is shown, at most 9: with 9 nanoseconds are shown
	 * as seconds; default: 0. */
	unsigned decimals;
	/* Of a histogram: the largest value of each bucket but the last, upwards, at most 32; default with 9
	 * decimals: from 100 us to 10 s. */
	const uint64_t *bounds;
	size_t bound_count;
	/* Of a counter or a gauge: asked when the metrics are read, and nobody adds. Any thread; must not
	 * suspend. Return: 0; with anything else it is left out this time. Default: what was added. */
	int (*read)(void *arg, uint64_t *ret_value);
	void *arg;
};

/* Have a metric; one of the same name and labels is the same one. Any thread.
 * Return: 0; -EINVAL for options that are against the rules above; -EEXIST for a name that is another type's,
 * or has other decimals or bounds; -ENOSPC when there are too many: some 130,000 numbers, of which a
 * histogram has one for each bucket and two more; -ENOMEM. */
EDDY_API int eddy_metric_declare(const struct eddy_metric_options *options,
				 struct eddy_metric **ret_metric);

/* Count; `by` may be negative for a gauge. What a metric can't count, NULL among it, changes nothing. Any thread,
 * never suspends. */
EDDY_API void eddy_metric_add(struct eddy_metric *metric, int64_t by);

/* Put a value into its bucket of a histogram. Otherwise as eddy_metric_add(). */
EDDY_API void eddy_metric_observe(struct eddy_metric *metric, uint64_t value);

/* Write all metrics of the process, eddy's own included, as text of Prometheus's format 0.0.4. A plain thread
 * is held for it, a task waits for one of the offload pool; when that has none for a quarter of a second, what only it
 * can read (process_…, eddy_io_workers) is left out. Suspends.
 * Return: 0, and text for free(3); -ENOMEM, -ECANCELED. */
EDDY_API int eddy_metric_text(char **ret_text, size_t *ret_len);

EDDY_END_DECLS

#endif
