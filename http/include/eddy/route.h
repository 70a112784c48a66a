/* eddy/route.h: a route: a handler for a method and a path pattern, with filters and limits.
 *
 *     struct eddy_route *route = eddy_app_map_put(app, "/avatars/{name}", save_avatar);
 *
 *     eddy_route_with(route, &(struct eddy_route_options){ .file_max = 256 * EDDY_KIB });
 *     eddy_app_add_filter(route, only_members, NULL);
 *
 * A pattern has static segments, `{name}` for any one segment, and `{name...}`, last, for the rest
 * of the path. `:id`, `*`, `*path` and `<id>`, as other frameworks write parameters, are mistakes; a
 * static segment of that text escapes its first byte (`%3A`, `%2A`, `%3C`). A GET route also answers
 * HEAD, without the body, unless a HEAD is mapped. Routes belong to their app. Do not change them
 * once it runs.
 */
#ifndef EDDY_ROUTE_H
#define EDDY_ROUTE_H

#include <eddy/filter.h>

EDDY_BEGIN_DECLS

/* Handle a request, in a task of its own. May suspend.
 * Return: 0 if `res` holds the response; a status from 200 to 599; -errno, which becomes a status
 * (-ENOENT is 404, -EACCES 403, those without a better one 500). After the head was sent, a status
 * of 400 and more and -errno close the connection, so that the client sees a truncated body. The
 * log record for it is of level ERROR; DEBUG if the client left or the request's body failed. */
typedef int eddy_handler_fn(struct eddy_req *req, struct eddy_res *res);

/* The client's event that cancels a request before it is answered: waiting calls return -ECANCELED,
 * and eddy_req_client_left() is true. It is noticed within 200 ms. */
enum eddy_cancel_on {
	EDDY_CANCEL_ON_DEFAULT, /* GET and HEAD: _RESET; other methods: _NOTHING */
	EDDY_CANCEL_ON_NOTHING, /* the handler completes */
	EDDY_CANCEL_ON_RESET,   /* the connection is reset */
	/* A reset, or the end of the client's stream. Most clients end it when they leave; one that
	 * only ends its sending, as `nc -N` does, then gets no response. */
	EDDY_CANCEL_ON_END,
};

/* The options of a route. A zero field takes its default: the app's value. */
struct eddy_route_options {
	void *data; /* for eddy_req_route_data(); borrowed for the app's life; default NULL */
	/* Bytes of a body read into memory, and of one saved to files, in place of the app's
	 * .body_max and .file_max; EDDY_NEVER: no limit. */
	uint64_t body_max;
	uint64_t file_max;
	/* Minimum rates of request bodies and of responses, in bytes a second, at most 1 MiB/s, in
	 * place of the app's .body_rate_min and .write_rate_min; EDDY_NEVER: no minimum. */
	uint64_t body_rate_min;
	uint64_t write_rate_min;
	enum eddy_cancel_on cancel_on;
};

/* Set the options of a route, in place of those set before. They are copied. */
EDDY_API void eddy_route_with(struct eddy_route *route, const struct eddy_route_options *options);

/* ---- for documents of an app's routes, such as eddy/openapi.h ---- */

/* Get the first route that was mapped (`route` NULL), or the one mapped after `route`.
 * Return: NULL if there is none. */
EDDY_API struct eddy_route *eddy_route_next(const struct eddy_app *app,
					    const struct eddy_route *route);

/* Get a route's method and pattern, with the prefixes of its groups: "GET /users/{id}". */
EDDY_API const char *eddy_route_label(const struct eddy_route *route);

/* Get a guard of the route, of its groups or of the app (eddy/filter.h).
 * Return: NULL if there are `index` guards or fewer. */
EDDY_API const struct eddy_guard *eddy_route_guard(const struct eddy_route *route, size_t index);

EDDY_END_DECLS

#endif
