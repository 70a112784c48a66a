/* router.h: finds the route for a method and a path.
 *
 * Routes may name the same parameter differently. For each segment
 * static text takes precedence over `{name}`, and that over `{name...}`; the search backtracks. A
 * pattern without a route for the method is skipped: its methods only count for the allow field if
 * nothing else matches.
 *
 * A GET route also responds to HEAD, unless its pattern has a HEAD route.
 *
 * Routes are added before the first lookup. Any thread may do lookups. */
#ifndef EDDYI_ROUTER_H
#define EDDYI_ROUTER_H

#include "message/target.h"
#include "text/path.h"

/* ---- patterns ---- */

/* The pattern of a route.
 *
 * A pattern is written like a path: `/users/{id}/posts`, `/static/{path...}`. A segment is static
 * text (percent-decoded once, so `%7B` is a literal brace), `{name}`, which matches one non-empty
 * segment, or at the end `{name...}`, which matches the rest of the path, even if empty. A trailing
 * slash is ignored. Names consist of letters, digits, '_' and '-'. Text that is a
 * parameter in other frameworks (`:id`, `*`, `*path`, `<id>`) is rejected, unless its first byte is
 * escaped. */

/* Limits of a pattern's parameters and segments. */
#define EDDYI_PATTERN_PARAMS_MAX 32
#define EDDYI_PATTERN_SEGMENTS_MAX 64

struct eddyi_pattern {
	struct eddy_str segments[EDDYI_PATTERN_SEGMENTS_MAX]; /* static text, decoded */
	bool is_param[EDDYI_PATTERN_SEGMENTS_MAX];
	size_t count;
	bool has_rest; /* ends in {name...}: the last of `names` */
	struct eddy_str names[EDDYI_PATTERN_PARAMS_MAX];
	size_t name_count;
};

/* Parse `text`, which is borrowed. Segments with escapes are stored in the arena. The caller zeroes
 * `ret_pattern`.
 * Return: 0; -EINVAL, and `*ret_reason`, static or in the arena, says why; -ENOMEM. */
int eddyi_pattern_parse(struct eddyi_arena *arena, struct eddy_str text,
			struct eddyi_pattern *ret_pattern, const char **ret_reason);

/* ---- routes ---- */

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
