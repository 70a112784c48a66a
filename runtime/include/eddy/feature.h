/* eddy/feature.h: what this kernel has beyond Linux 6.1, which is the least that eddy runs on.
 *
 *     if (!eddy_feature_is_there(EDDY_FEATURE_WAITID))
 *             puts(eddy_feature_info(EDDY_FEATURE_WAITID)->without);
 *
 * All of it is optional: eddy's own calls do without, in the way that `without` says. The kernel is
 * asked once, when the process makes its first ring. Any thread.
 */
#ifndef EDDY_FEATURE_H
#define EDDY_FEATURE_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

enum eddy_feature {
	EDDY_FEATURE_MSG_RING,
	EDDY_FEATURE_SENDMSG_ZC,
	EDDY_FEATURE_NO_SQARRAY,
	EDDY_FEATURE_READ_MULTISHOT,
	EDDY_FEATURE_WAITID,
	EDDY_FEATURE_FUTEX,
	EDDY_FEATURE_FIXED_FD_INSTALL,
	EDDY_FEATURE_FTRUNCATE,
	EDDY_FEATURE_NAPI,
	EDDY_FEATURE_BUNDLE,
	EDDY_FEATURE_BIND,
	EDDY_FEATURE_MIN_WAIT,
	EDDY_FEATURE_INCREMENTAL_BUFFERS,
	EDDY_FEATURE_GUARD_INSTALL,
	EDDY_FEATURE_PIPE,
	EDDY_FEATURE_RECV_LIMIT,
	EDDY_FEATURES /* how many there are */
};

struct eddy_feature_info {
	const char *name;    /* "IORING_OP_WAITID" */
	const char *since;   /* of Linux: "6.7" */
	const char *without; /* what eddy does where it is absent */
};

/* Whether this kernel has it. Where no ring can be had, nothing of the ring's is there. */
EDDY_API bool eddy_feature_is_there(enum eddy_feature feature);

/* Tell about a feature. Return: never NULL, never freed. */
EDDY_API const struct eddy_feature_info *eddy_feature_info(enum eddy_feature feature);

EDDY_END_DECLS

#endif
