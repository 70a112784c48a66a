/* nearest.h: suggests a name for a mistyped one. */
#ifndef EDDYI_NEAREST_H
#define EDDYI_NEAREST_H

#include <eddy/str.h>

/* Set only `wanted`, then try all names. */
struct eddyi_nearest {
	struct eddy_str wanted;
	const char *name; /* NULL: none is near */
	unsigned distance;
};

/* Keep `name` if it is nearer than the previous ones, by inserted, removed and replaced bytes and
 * swapped neighbours. A third of its length may be wrong. */
void eddyi_nearest_try(struct eddyi_nearest *nearest, const char *name);

#endif
