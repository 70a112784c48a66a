#include "metric.h"

#include "metric_cells.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define SECONDS 9 /* decimals of nanoseconds */

#define BUCKETS 8192

static const uint64_t default_bounds[] = {
	100 * EDDY_US,  250 * EDDY_US,  500 * EDDY_US,   EDDY_MS,
	2500 * EDDY_US, 5 * EDDY_MS,    10 * EDDY_MS,    25 * EDDY_MS,
	50 * EDDY_MS,   100 * EDDY_MS,  250 * EDDY_MS,   500 * EDDY_MS,
	EDDY_SECOND,    2500 * EDDY_MS, 5 * EDDY_SECOND, 10 * EDDY_SECOND,
};

static struct {
	pthread_mutex_t lock; /* held to declare */
	struct eddyi_metric_family *first;
	struct eddy_metric *buckets[BUCKETS];
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- families ---- */

static struct eddy_metric_options filled_in(struct eddy_metric_options options)
{
	if (options.type == EDDY_METRIC_HISTOGRAM && !options.bounds &&
	    options.decimals == SECONDS) {
		options.bounds = default_bounds;
		options.bound_count = sizeof(default_bounds) / sizeof(default_bounds[0]);
	}
	return options;
}

static bool fits(const struct eddyi_metric_family *family,
		 const struct eddy_metric_options *options)
{
	return family->type == options->type && family->decimals == options->decimals &&
	       family->bound_count == options->bound_count &&
	       (!family->bound_count || memcmp(family->bounds, options->bounds,
					       family->bound_count * sizeof(*family->bounds)) == 0);
}

static void family_free(struct eddyi_metric_family *family)
{
	free(family->name);
	free(family->help);
	free(family);
}

static struct eddyi_metric_family *family_new(const struct eddy_metric_options *options)
{
	struct eddyi_metric_family *family = calloc(1, sizeof(*family));

	if (!family)
		return NULL;
	family->end = &family->first;
	family->name = strdup(options->name);
	family->help = strdup(options->help);
	family->type = options->type;
	family->decimals = options->decimals;
	family->bound_count = options->bound_count;
	if (family->bound_count)
		memcpy(family->bounds, options->bounds,
		       family->bound_count * sizeof(*family->bounds));
	if (!family->name || !family->help) {
		family_free(family);
		return NULL;
	}
	return family;
}

/* Return: the link to the family of this name, or where to add it. */
static struct eddyi_metric_family **find_family(const char *name)
{
	struct eddyi_metric_family **at = &all.first;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

/* ---- metrics ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct eddy_metric_label *)a)->name,
		      ((const struct eddy_metric_label *)b)->name);
}

/* Return: the sorted label text, to be freed; NULL on allocation failure. */
static char *format_labels(const struct eddy_metric_label *labels)
{
	struct eddy_metric_label sorted[EDDY_METRIC_LABELS_MAX];
	struct eddyi_metric_out out = { 0 };
	size_t count = 0;

	for (; labels && labels[count].name; count++)
		sorted[count] = labels[count];
	qsort(sorted, count, sizeof(sorted[0]), by_name);
	for (size_t i = 0; i < count; i++) {
		eddyi_metric_puts(&out, i ? "," : "", sorted[i].name, "=\"");
		eddyi_metric_put_escaped(&out, sorted[i].value, true);
		eddyi_metric_puts(&out, "\"");
	}
	eddyi_metric_put(&out, "", 1);
	if (!out.failed)
		return out.bytes;
	free(out.bytes);
	return NULL;
}

static struct eddy_metric **bucket_of(const char *name, const char *labels)
{
	uint64_t h = 14695981039346656037u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	for (; *labels; labels++)
		h = (h ^ (unsigned char)*labels) * 1099511628211u;
	return &all.buckets[(h ^ h >> 32) % BUCKETS];
}

static struct eddy_metric *find_metric(const struct eddyi_metric_family *family, const char *labels)
{
	struct eddy_metric *metric = *bucket_of(family->name, labels);

	while (metric && (metric->family != family || strcmp(metric->labels, labels) != 0))
		metric = metric->other;
	return metric;
}

/* Takes ownership of `labels` on success. */
static int metric_new(const struct eddyi_metric_family *family,
		      const struct eddy_metric_options *options, char *labels,
		      struct eddy_metric **ret_metric)
{
	struct eddy_metric *metric = calloc(1, sizeof(*metric));
	int r = 0;

	if (!metric)
		return -ENOMEM;
	*metric = (struct eddy_metric){
		.family = family,
		.labels = labels,
		.read = options->read,
		.arg = options->arg,
	};
	if (!metric->read)
		r = eddyi_cells_reserve(
			family->type == EDDY_METRIC_HISTOGRAM ? family->bound_count + 2 : 1,
			&metric->cell);
	if (r < 0)
		free(metric);
	else
		*ret_metric = metric;
	return r;
}

/* Make a metric visible to readers. */
static void publish(struct eddyi_metric_family *family, struct eddy_metric *metric)
{
	struct eddy_metric **bucket = bucket_of(family->name, metric->labels);

	metric->other = *bucket;
	*bucket = metric;
	__atomic_store_n(family->end, metric, __ATOMIC_RELEASE);
	family->end = &metric->next;
}

/* With the lock. Takes ownership of `*labels` if it becomes NULL. Return: as
 * eddy_metric_declare(). */
static int declare(const struct eddy_metric_options *options, char **labels,
		   struct eddy_metric **ret_metric)
{
	struct eddyi_metric_family **at = find_family(options->name), *family = *at;
	struct eddy_metric *metric;
	int r;

	if (family && !fits(family, options))
		return -EEXIST;
	if (!family)
		family = family_new(options);
	if (!family)
		return -ENOMEM;
	metric = find_metric(family, *labels);
	if (metric) {
		*ret_metric = metric;
		return 0;
	}
	r = metric_new(family, options, *labels, &metric);
	if (r < 0) {
		if (!*at)
			family_free(family);
		return r;
	}
	*labels = NULL;
	publish(family, metric);
	if (!*at)
		__atomic_store_n(at, family, __ATOMIC_RELEASE);
	*ret_metric = metric;
	return 0;
}

int eddy_metric_declare(const struct eddy_metric_options *options, struct eddy_metric **ret_metric)
{
	struct eddy_metric_options whole = filled_in(*options);
	char *labels;
	int r;

	if (!eddyi_metric_may_declare(&whole))
		return -EINVAL;
	labels = format_labels(whole.labels);
	if (!labels)
		return -ENOMEM;
	pthread_mutex_lock(&all.lock);
	r = declare(&whole, &labels, ret_metric);
	pthread_mutex_unlock(&all.lock);
	free(labels);
	return r;
}

/* ---- counting ---- */

void eddy_metric_add(struct eddy_metric *metric, int64_t by)
{
	if (metric && !metric->read && metric->family->type != EDDY_METRIC_HISTOGRAM &&
	    (by >= 0 || metric->family->type == EDDY_METRIC_GAUGE))
		eddyi_cells_add(metric->cell, (uint64_t)by);
}

void eddy_metric_observe(struct eddy_metric *metric, uint64_t value)
{
	const struct eddyi_metric_family *family;
	size_t at = 0;

	if (!metric || metric->family->type != EDDY_METRIC_HISTOGRAM)
		return;
	family = metric->family;
	while (at < family->bound_count && value > family->bounds[at])
		at++;
	eddyi_cells_add(metric->cell + (unsigned)at, 1);
	eddyi_cells_add(metric->cell + (unsigned)family->bound_count + 1, value);
}

/* ---- text format ---- */

static void write_line(struct eddyi_metric_out *out, const struct eddy_metric *metric,
		       int64_t value)
{
	const struct eddyi_metric_family *family = metric->family;
	bool has_labels = *metric->labels;

	eddyi_metric_puts(out, family->name, has_labels ? "{" : "", metric->labels,
			  has_labels ? "} " : " ");
	eddyi_metric_put_number(out, value, family->decimals);
	eddyi_metric_puts(out, "\n");
}

/* Write a line's name and labels; `le` may be NULL. */
static void write_part(struct eddyi_metric_out *out, const struct eddy_metric *metric,
		       const char *part, const char *le)
{
	const char *labels = metric->labels;

	eddyi_metric_puts(out, metric->family->name, part);
	if (le)
		eddyi_metric_puts(out, "{", labels, *labels ? "," : "", "le=\"", le, "\"}");
	else if (*labels)
		eddyi_metric_puts(out, "{", labels, "}");
	eddyi_metric_puts(out, " ");
}

static void write_histogram(struct eddyi_metric_out *out, const struct eddy_metric *metric)
{
	const struct eddyi_metric_family *family = metric->family;
	uint64_t sums[EDDY_METRIC_BOUNDS_MAX + 2], count = 0;

	eddyi_cells_sum(metric->cell, family->bound_count + 2, sums);
	for (size_t i = 0; i <= family->bound_count; i++) {
		char le[EDDYI_METRIC_NUMBER_SIZE] = "+Inf";

		if (i < family->bound_count)
			eddyi_metric_format(family->bounds[i], family->decimals, le);
		count += sums[i];
		write_part(out, metric, "_bucket", le);
		eddyi_metric_put_number(out, (int64_t)count, 0);
		eddyi_metric_puts(out, "\n");
	}
	write_part(out, metric, "_sum", NULL);
	eddyi_metric_put_number(out, (int64_t)sums[family->bound_count + 1], family->decimals);
	eddyi_metric_puts(out, "\n");
	write_part(out, metric, "_count", NULL);
	eddyi_metric_put_number(out, (int64_t)count, 0);
	eddyi_metric_puts(out, "\n");
}

static void write_metric(struct eddyi_metric_out *out, const struct eddy_metric *metric)
{
	uint64_t value;

	if (metric->family->type == EDDY_METRIC_HISTOGRAM)
		write_histogram(out, metric);
	else if (metric->read ? metric->read(metric->arg, &value) == 0 :
				(eddyi_cells_sum(metric->cell, 1, &value), true))
		write_line(out, metric, (int64_t)value);
}

/* Write a family; its HELP and TYPE lines are removed if no metric has a value. */
static void write_family(struct eddyi_metric_out *out, const struct eddyi_metric_family *family)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	const struct eddy_metric *metric;
	size_t before = out->len, above;

	eddyi_metric_puts(out, "# HELP ", family->name, " ");
	eddyi_metric_put_escaped(out, family->help, false);
	eddyi_metric_puts(out, "\n# TYPE ", family->name, " ", types[family->type], "\n");
	above = out->len;
	for (metric = __atomic_load_n(&family->first, __ATOMIC_ACQUIRE); metric;
	     metric = __atomic_load_n(&metric->next, __ATOMIC_ACQUIRE))
		write_metric(out, metric);
	if (out->len == above)
		out->len = before;
}

void eddyi_metric_write_all(struct eddyi_metric_out *out)
{
	const struct eddyi_metric_family *family;

	for (family = __atomic_load_n(&all.first, __ATOMIC_ACQUIRE); family;
	     family = __atomic_load_n(&family->next, __ATOMIC_ACQUIRE))
		write_family(out, family);
}
