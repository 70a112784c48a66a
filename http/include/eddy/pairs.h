/* eddy/pairs.h: names and values in the order in which they came, decoded: path parameters, a query,
 * a form. A name may come more than once.
 *
 *     struct eddy_pairs query;
 *
 *     if (eddy_req_query_pairs(req, &query) == 0)
 *             for (size_t i = 0; i < query.count; i++)
 *                     look_at(query.list[i].name, query.list[i].value);
 *
 * Decoded bytes may be anything, also NUL. They live as long as the request.
 */
#ifndef EDDY_PAIRS_H
#define EDDY_PAIRS_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddy_pair {
	struct eddy_str name;
	struct eddy_str value; /* never .ptr NULL */
};

struct eddy_pairs {
	const struct eddy_pair *list;
	size_t count;
};

/* The first value of this name; .ptr is NULL when there is none. */
EDDY_API struct eddy_str eddy_pairs_get(const struct eddy_pairs *pairs, const char *name);

EDDY_END_DECLS

#endif
