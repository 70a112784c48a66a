/* feature.h: optional kernel features beyond Linux 6.1, the oldest supported kernel. The kernel is
 * probed once, when the process creates its first ring. Any thread may call these functions.
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
	EDDYI_FEATURES
};

struct eddyi_feature_info {
	const char *name;    /* "IORING_OP_PIPE" */
	const char *since;   /* the first Linux version with it: "6.16" */
	const char *without; /* what eddy does on older kernels */
};

/* Whether this kernel has the feature; without a ring, features of the ring are missing. */
EDDY_API bool eddyi_feature_is_there(enum eddyi_feature feature);

/* Describe a feature. Return: never NULL, never freed. */
EDDY_API const struct eddyi_feature_info *eddyi_feature_info(enum eddyi_feature feature);

/* Probe the kernel through `ring`, which belongs to this thread, unless it was probed before. */
void eddyi_feature_probe(struct io_uring *ring);

/* Whether ops that become ready while the loop is busy complete in that order. Older kernels (6.1)
 * run the list in reverse. */
bool eddyi_feature_completes_in_order(void);

/* Get all answers as one number, and have them given again, in a replay. */
uint64_t eddyi_feature_all(void);
void eddyi_feature_assume(uint64_t all);

/* For tests: pretend that the kernel has or lacks the feature. Return: the previous answer. */
bool eddyi_feature_set(enum eddyi_feature feature, bool is_there);

#endif
