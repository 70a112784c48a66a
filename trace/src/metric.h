/* metric.h: the text of all metrics. */
#ifndef EDDYI_METRIC_H
#define EDDYI_METRIC_H

#include <eddy/metric.h>

/* A growing text. Begins zeroed. After an allocation failure `failed` is set and nothing more is
 * written. */
struct eddyi_metric_out {
	char *bytes; /* owned */
	size_t len;
	size_t size;
	bool failed;
};

/* Write all families. */
void eddyi_metric_write_all(struct eddyi_metric_out *out);

#endif
