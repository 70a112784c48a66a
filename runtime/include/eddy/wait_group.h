/* eddy/wait_group.h: wait until a number of things have been done, whoever does them. For the tasks of a
 * scope there is eddy_scope_join().
 */
#ifndef EDDY_WAIT_GROUP_H
#define EDDY_WAIT_GROUP_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_wait_group {
	size_t count;             /* read-only: what is left to be done */
	struct eddy_node waiters; /* private */
	unsigned loop;            /* private: the loop that it belongs to; 0: none yet */
};

/* Make a group with nothing to be done. */
EDDY_API void eddy_wait_group_init(struct eddy_wait_group *group);

/* There are `n` more things to be done. Never suspends. */
EDDY_API void eddy_wait_group_add(struct eddy_wait_group *group, size_t n, const char *where);

/* One thing has been done; when it was the last, all who wait go on, and do not look at the group any
 * more. Never suspends; may be called from completion functions of the same loop. */
EDDY_API void eddy_wait_group_done(struct eddy_wait_group *group);

/* Wait until nothing is left to be done. Suspends unless that is so. Return: 0, -ECANCELED. */
EDDY_API int eddy_wait_group_wait(struct eddy_wait_group *group, const char *where);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_wait_group_done(struct eddy_wait_group *group, const char *where);
#define eddy_wait_group_add(...) eddy_wait_group_add(__VA_ARGS__, EDDY_HERE)
#define eddy_wait_group_done(...) eddyi_wait_group_done(__VA_ARGS__, EDDY_HERE)
#define eddy_wait_group_wait(...) eddy_wait_group_wait(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
