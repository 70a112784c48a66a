/* nearest.h: the name that somebody who mistyped one may have meant. */
#ifndef EDDYI_NEAREST_H
#define EDDYI_NEAREST_H

#include <eddy/str.h>

/* Set `wanted` and nothing else, then try all names. */
struct eddyi_nearest {
	struct eddy_str wanted;
	const char *name; /* NULL while none is near */
	unsigned distance;
};

/* Keep `name` when it is nearer than those before, by inserted, removed and replaced bytes: one of
 * three bytes may be wrong. */
void eddyi_nearest_try(struct eddyi_nearest *nearest, const char *name);

#endif
