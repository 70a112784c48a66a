/* metric.h: the metrics of the process, as they have been declared. */
#ifndef EDDYI_METRIC_H
#define EDDYI_METRIC_H

#include "metric_out.h"

#include <eddy/metric.h>

/* Invariant: metrics and families are only ever added, each with all that is in it: who reads needs no lock. */
struct eddy_metric {
	struct eddy_metric *next;  /* of the family */
	struct eddy_metric *other; /* in the same bucket: with the lock */
	const struct eddyi_metric_family *family;
	char *labels;  /* as they are shown, sorted, without braces; "" for none */
	unsigned cell; /* the first of its numbers: one; of a histogram its buckets and their sum */
	int (*read)(void *arg, uint64_t *ret_value); /* NULL: it has cells */
	void *arg;
};

/* All metrics of one name. */
struct eddyi_metric_family {
	struct eddyi_metric_family *next;
	struct eddy_metric *first;
	struct eddy_metric **end; /* where the next one is linked: with the lock */
	char *name;
	char *help;
	enum eddy_metric_type type;
	unsigned decimals;
	size_t bound_count;
	uint64_t bounds[EDDY_METRIC_BOUNDS_MAX];
};

/* Whether the options are such that a metric can be declared by them. */
bool eddyi_metric_may_declare(const struct eddy_metric_options *options);

/* Write all families. */
void eddyi_metric_write_all(struct eddyi_metric_out *out);

/* What /proc says of this process; a plain thread's work. */
struct eddyi_process_figures {
	uint64_t cpu_ns;
	uint64_t resident; /* bytes */
	uint64_t mapped;   /* bytes */
	uint64_t descriptors;
	uint64_t descriptors_max;
	uint64_t started_ms; /* since 1970 */
	uint64_t threads;
	uint64_t io_workers; /* of those the kernel's, for our rings */
};

void eddyi_process_figures_read(struct eddyi_process_figures *ret_figures);

#endif
