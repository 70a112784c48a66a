/* eddy/pairs.h: decoded names and values in order: path parameters, a query or a form. Names may
 * repeat.
 *
 *     struct eddy_pairs query;
 *
 *     if (eddy_req_query_pairs(req, &query) == 0)
 *             for (size_t i = 0; i < query.count; i++)
 *                     look_at(query.list[i].name, query.list[i].value);
 *
 * Decoded bytes may have any value, even NUL. They live as long as the request.
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
