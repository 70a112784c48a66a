/* eddy/metric.h: metrics (counters, gauges and histograms) in the text format of Prometheus.
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
 * Each thread counts without a lock; reading sums up all threads, even ended ones. A metric lives
 * as long as the process: declare a fixed set, not one for each customer. docs/metrics.md lists
 * eddy's own; eddy/metrics.h serves all of them over HTTP.
 */
#ifndef EDDY_METRIC_H
#define EDDY_METRIC_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_metric;

enum eddy_metric_type {
	EDDY_METRIC_COUNTER,   /* a number of events or an amount; never decreases */
	EDDY_METRIC_GAUGE,     /* a current value */
	EDDY_METRIC_HISTOGRAM, /* a distribution of values */
};

struct eddy_metric_label {
	/* Letters, digits and '_', not beginning with a digit or "__"; not "le". */
	const char *name;
	const char *value; /* any text; invalid UTF-8 becomes U+FFFD */
};

/* Make a list of labels. Not available in C++: there pass an array that ends with a NULL name. */
#define EDDY_METRIC_LABELS(...) ((const struct eddy_metric_label[]){ __VA_ARGS__, { NULL, NULL } })

#define EDDY_METRIC_LABELS_MAX 8
#define EDDY_METRIC_BOUNDS_MAX 32

/* A metric's name, type and labels. A zero field takes its default. Everything is copied. */
struct eddy_metric_options {
	/* Letters, digits, '_' and ':', not beginning with a digit. The name of a counter ends with
	 * "_total", other names do not, nor with "_bucket", "_count" or "_sum". Those that begin
	 * with "eddy_" or "process_" are reserved. */
	const char *name;
	const char *help;           /* a sentence; metrics of one name show the first one's */
	enum eddy_metric_type type; /* default: a counter */
	const struct eddy_metric_label *labels; /* ends with a NULL name; default: none */
	/* Decimal places of the shown number, at most 9; default 0. With 9, nanoseconds are shown
	 * as seconds. */
	unsigned decimals;
	/* For a histogram the upper bounds of its buckets except the last, ascending, at most 32.
	 * Required unless `decimals` is 9; default then 100 us to 10 s. */
	const uint64_t *bounds;
	size_t bound_count;
	/* For a counter or a gauge: returns its value when metrics are read, in place of
	 * eddy_metric_add(). Any thread calls it, and it must not suspend. Return: 0; else the
	 * metric is left out this time. */
	int (*read)(void *arg, uint64_t *ret_value);
	void *arg;
};

/* Declare a metric, or get the one with the same name and labels. Any thread may call it.
 * Return: 0; -EINVAL if an option breaks a rule above; -EEXIST if the name has another type, or
 * other decimals or bounds; -ENOSPC above some 130,000 numbers, of which a histogram has one for
 * each bucket and two more; -ENOMEM. */
EDDY_API int eddy_metric_declare(const struct eddy_metric_options *options,
				 struct eddy_metric **ret_metric);

/* Add to a counter or a gauge; `by` may be negative only for a gauge. Does nothing if the metric is
 * NULL, of another type, or has .read. Never suspends. Any thread may call it. */
EDDY_API void eddy_metric_add(struct eddy_metric *metric, int64_t by);

/* Add a value to a histogram; else as eddy_metric_add(). */
EDDY_API void eddy_metric_observe(struct eddy_metric *metric, uint64_t value);

/* Write all metrics of the process, eddy's own included, in Prometheus's text format 0.0.4.
 * Suspends in a task, until a thread of the offload pool (worker threads for blocking calls) has
 * written them; if none is free for 250 ms, process_… and eddy_io_workers are left out. Blocks a
 * plain thread.
 * Return: 0, and text for free(3); -ENOMEM, -ECANCELED. */
EDDY_API int eddy_metric_text(char **ret_text, size_t *ret_len);

EDDY_END_DECLS

#endif
