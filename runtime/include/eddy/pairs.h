/* eddy/pairs.h: decoded names and values in order, such as those of a query or a form. Names may
 * repeat. Decoded bytes may have any value, even NUL.
 *
 *     for (size_t i = 0; i < pairs->count; i++)
 *             look_at(pairs->list[i].name, pairs->list[i].value);
 */
#ifndef EDDY_PAIRS_H
#define EDDY_PAIRS_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddy_pair {
	struct eddy_str name;
	struct eddy_str value; /* .ptr is never NULL */
};

struct eddy_pairs {
	const struct eddy_pair *list;
	size_t count;
};

/* Get the first value of this name; .ptr is NULL if there is none. */
EDDY_API struct eddy_str eddy_pairs_get(const struct eddy_pairs *pairs, const char *name);

EDDY_END_DECLS

#endif
