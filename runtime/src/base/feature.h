/* feature.h: how what the kernel has is found out. */
#ifndef EDDYI_FEATURE_H
#define EDDYI_FEATURE_H

#include <eddy/feature.h>
#include <liburing.h>

/* Ask the kernel through `ring`, which belongs to this thread, unless it has been asked already. */
void eddyi_feature_probe(struct io_uring *ring);

/* Whether what becomes ready while the loop is elsewhere completes in that order: the kernel's list of it is
 * a stack, which older ones (6.1) run from the top. */
bool eddyi_feature_completes_in_order(void);

/* For tests: pretend that the kernel has or lacks it. Return: what was so before. */
bool eddyi_feature_set(enum eddy_feature feature, bool is_there);

#endif
