/* router.h: which route answers a method and a path.
 *
 * How a pattern is written: pattern.h. Each route keeps its own names of parameters, whatever others call the
 * same place.
 *
 * At every segment static text beats `{name}`, which beats `{name...}`, and what turns out not to
 * lead to a route is taken back. A pattern without a route for the method is passed over: its
 * methods only count for the allow field when nothing else fits.
 *
 * HEAD falls back to GET here: a pattern that has a GET route and no HEAD route of its own answers
 * HEAD with its GET route, and has both in its set of methods. An explicit HEAD route wins.
 *
 * Routes are added before the first lookup; lookups change nothing and may run on many threads.
 */
#ifndef EDDYI_ROUTER_H
#define EDDYI_ROUTER_H

#include "message/method.h"
#include "pattern.h"
#include "text/path.h"

struct eddyi_router;

/* One route as it was added; lives as long as the router. */
struct eddyi_route {
	void *value;
	enum eddyi_method method;
	struct eddy_str pattern;
	size_t param_count;
	struct eddy_str param_names[];
};

struct eddyi_router_match {
	const struct eddyi_route *route; /* NULL: see `methods` */
	/* Without a route: those that this path does answer; 0 means that no pattern fits it. */
	unsigned methods;
	/* The values of route->param_names, in their order; they point into the path. */
	struct eddy_str params[EDDYI_PATTERN_PARAMS_MAX];
	/* Of the longest prefix that the path begins with; NULL when there is none. It says what it
	 * should only when no route was found. */
	void *beneath;
	size_t nodes_visited; /* the price of this lookup */
};

/* Return: NULL when memory is out. */
struct eddyi_router *eddyi_router_new(void);

/* Free the router and its routes, not the values. */
void eddyi_router_free(struct eddyi_router *router);

/* Add a route for one method; `pattern` is copied, `value` is the caller's.
 * Return: 0, -EEXIST when this method already has a route at an equal pattern (parameter names
 * make no difference), -EINVAL for a bad pattern or EDDYI_METHOD_OTHER, -ENOMEM; with an error
 * `*ret_reason`, static text that says what is wrong. */
int eddyi_router_add(struct eddyi_router *router, enum eddyi_method method, struct eddy_str pattern,
		     void *value, const char **ret_reason);

/* Give paths that begin with a prefix (a pattern without `{name...}`, or nothing) a value of their own.
 * Of several for equal prefixes the first stays. Return: as eddyi_router_add(), never -EEXIST. */
int eddyi_router_add_prefix(struct eddyi_router *router, struct eddy_str prefix, void *value,
			    const char **ret_reason);

/* Find the route for a method and a path. Looks at each node of the tree once at most, and costs
 * the same however many routes there are beside those that share the path's beginning. */
void eddyi_router_find(const struct eddyi_router *router, enum eddyi_method method,
		       const struct eddyi_path *path, struct eddyi_router_match *ret_match);

/* The methods of all routes together, HEAD counted with GET: the answer to `OPTIONS *`. */
unsigned eddyi_router_methods(const struct eddyi_router *router);

#endif
