/* metric.h: the registry of metrics. */
#ifndef EDDYI_METRIC_H
#define EDDYI_METRIC_H

#include "metric_out.h"

#include <eddy/metric.h>

/* Invariant: metrics and families are only added, and complete when added: readers need no lock. */
struct eddy_metric {
	struct eddy_metric *next;  /* in the family */
	struct eddy_metric *other; /* in the bucket; with the lock */
	const struct eddyi_metric_family *family;
	char *labels;  /* text, sorted, without braces; "" for none */
	unsigned cell; /* the first of its cells; a histogram has its buckets and their sum */
	int (*read)(void *arg, uint64_t *ret_value); /* NULL: it has cells */
	void *arg;
};

/* All metrics of one name. */
struct eddyi_metric_family {
	struct eddyi_metric_family *next;
	struct eddy_metric *first;
	struct eddy_metric **end; /* where to add the next; with the lock */
	char *name;
	char *help;
	enum eddy_metric_type type;
	unsigned decimals;
	size_t bound_count;
	uint64_t bounds[EDDY_METRIC_BOUNDS_MAX];
};

/* Whether options are valid. */
bool eddyi_metric_may_declare(const struct eddy_metric_options *options);

/* Write all families. */
void eddyi_metric_write_all(struct eddyi_metric_out *out);

/* Figures of this process from /proc; read on a plain thread. */
struct eddyi_process_figures {
	uint64_t cpu_ns;
	uint64_t resident; /* bytes */
	uint64_t mapped;   /* bytes */
	uint64_t descriptors;
	uint64_t descriptors_max;
	uint64_t started_ms; /* since 1970 */
	uint64_t threads;
	uint64_t io_workers; /* io_uring worker threads among them */
};

void eddyi_process_figures_read(struct eddyi_process_figures *ret_figures);

#endif
