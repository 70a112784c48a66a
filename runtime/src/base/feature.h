/* feature.h: optional features of this kernel beyond Linux 6.1, the oldest that eddy runs on. The kernel is asked once, when the
 * process makes its first ring. Any thread.
 */
#ifndef EDDYI_FEATURE_H
#define EDDYI_FEATURE_H

#include <eddy/base.h>
#include <liburing.h>

enum eddyi_feature {
	EDDYI_FEATURE_MSG_RING,
	EDDYI_FEATURE_FUTEX,
	EDDYI_FEATURE_FTRUNCATE,
	EDDYI_FEATURE_GUARD_INSTALL,
	EDDYI_FEATURE_PIPE,
	EDDYI_FEATURE_RECV_LIMIT,
	EDDYI_FEATURES /* the number of features */
};

struct eddyi_feature_info {
	const char *name;    /* "IORING_OP_PIPE" */
	const char *since;   /* the first Linux that has it: "6.16" */
	const char *without; /* what eddy does on older kernels */
};

/* Whether this kernel has the feature. Where no ring can be made, none of the ring's features is there. */
EDDY_API bool eddyi_feature_is_there(enum eddyi_feature feature);

/* Describe a feature. Return: never NULL, never freed. */
EDDY_API const struct eddyi_feature_info *eddyi_feature_info(enum eddyi_feature feature);

/* Probe the kernel through `ring`, which belongs to this thread, unless it has been probed already. */
void eddyi_feature_probe(struct io_uring *ring);

/* Whether the kernel completes ops in the order in which they became ready while the loop was busy. Older kernels (6.1) run
 * that list from its end. */
bool eddyi_feature_completes_in_order(void);

/* For tests: pretend that the kernel has or lacks the feature. Return: the previous answer. */
bool eddyi_feature_set(enum eddyi_feature feature, bool is_there);

#endif
