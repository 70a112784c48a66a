/* router.h: finds the route for a method and a path.
 *
 * pattern.h describes patterns. Routes may name the same parameter differently. For each segment
 * static text takes precedence over `{name}`, and that over `{name...}`; the search backtracks. A
 * pattern without a route for the method is skipped: its methods only count for the allow field if
 * nothing else matches.
 *
 * A GET route also responds to HEAD, unless its pattern has a HEAD route.
 *
 * Routes are added before the first lookup. Any thread may do lookups. */
#ifndef EDDYI_ROUTER_H
#define EDDYI_ROUTER_H

#include "message/method.h"
#include "pattern.h"
#include "text/path.h"

struct eddyi_router;

/* A route. It lives as long as the router. */
struct eddyi_route {
	void *value;
	enum eddyi_method method;
	struct eddy_str pattern;
	size_t param_count;
	struct eddy_str param_names[];
};

struct eddyi_router_match {
	const struct eddyi_route *route; /* NULL: see `methods` */
	/* Without a route: the methods of matching patterns; 0: no pattern matches. */
	unsigned methods;
	/* The values of route->param_names, which point into the path. */
	struct eddy_str params[EDDYI_PATTERN_PARAMS_MAX];
	/* The value of the longest matching prefix; NULL if none. Only valid without a route. */
	void *beneath;
	size_t nodes_visited; /* the cost of this lookup */
};

/* Return: NULL on allocation failure. */
struct eddyi_router *eddyi_router_new(void);

/* Free the router and its routes, not their values. */
void eddyi_router_free(struct eddyi_router *router);

/* Add a route for one method. `pattern` is copied; `value` is borrowed.
 * Return: 0; -EEXIST if an equal pattern (regardless of parameter names) already has this method;
 * -EINVAL for an invalid pattern or EDDYI_METHOD_OTHER; -ENOMEM; `*ret_reason`, which lives as long
 * as the router, says why. */
int eddyi_router_add(struct eddyi_router *router, enum eddyi_method method, struct eddy_str pattern,
		     void *value, const char **ret_reason);

/* Set a value for paths that begin with a prefix (a pattern without `{name...}`, or empty). The
 * first of several for equal prefixes stays. Return: as eddyi_router_add(), but not -EEXIST. */
int eddyi_router_add_prefix(struct eddyi_router *router, struct eddy_str prefix, void *value,
			    const char **ret_reason);

/* Find the route for a method and a path. Visits each node at most once; only routes that begin
 * like the path cost time. */
void eddyi_router_find(const struct eddyi_router *router, enum eddyi_method method,
		       const struct eddyi_path *path, struct eddyi_router_match *ret_match);

/* Get the methods of all routes, with HEAD for GET: the response to `OPTIONS *`. */
unsigned eddyi_router_methods(const struct eddyi_router *router);

#endif
