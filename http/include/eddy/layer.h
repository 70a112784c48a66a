/* eddy/layer.h: state and hooks for layers on top of http, such as compress, trace and auth.
 *
 *     static const struct eddy_layer things = { "things", sizeof(struct things), init, deinit };
 *
 *     void eddy_app_use_thing(struct eddy_app *app, const char *name)
 *     {
 *             struct things *kept = eddy_app_layer(app, &things);
 *
 *             if (add_thing(kept, name) < 0)
 *                     eddy_app_mistake(app, "eddy_app_use_thing(): there is no \"%s\"", name);
 *             eddy_app_add_filter(app, filter, kept);
 *     }
 */
#ifndef EDDY_LAYER_H
#define EDDY_LAYER_H

#include <eddy/app.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

struct eddy_config_key;

/* Allocate zeroed memory for the app's life. Never returns NULL: the process ends on allocation
 * failure. */
EDDY_API void *eddy_app_alloc(struct eddy_app *app, size_t size);

/* Copy a string for the app's life; NULL gives NULL. */
EDDY_API const char *eddy_app_keep_string(struct eddy_app *app, const char *string);

/* Replace the borrowed strings and lists of strings that a table of keys (eddy/config.h) sets in
 * `target` by copies for the app's life. */
EDDY_API void eddy_app_keep_strings(struct eddy_app *app, const struct eddy_config_key *keys,
				    void *target);

/* Record a mistake in the app's construction: eddy_app_run() reports it and fails. */
EDDY_PRINTF(2, 3) EDDY_API void eddy_app_mistake(struct eddy_app *app, const char *format, ...);

/* State that a layer keeps in an app, once. */
struct eddy_layer {
	const char *name; /* for messages */
	size_t size;
	void (*init)(struct eddy_app *app, void *kept); /* gets zeroed memory; may be NULL */
	void (*deinit)(void *kept);                     /* when the app is freed; may be NULL */
};

/* Get the layer's state in an app, created at the first call. Never returns NULL. */
EDDY_API void *eddy_app_layer(struct eddy_app *app, const struct eddy_layer *layer);

/* Get the layer's state in an app if it was created; else NULL. Any thread may call it once the app
 * runs. */
EDDY_API void *eddy_app_find_layer(const struct eddy_app *app, const struct eddy_layer *layer);

/* State that a layer keeps for one request. */
struct eddy_req_layer {
	const char *name; /* for messages */
	size_t size;
	void (*deinit)(void *kept); /* when the request ends, answered or not; may be NULL */
};

/* Get the layer's state for a request, created zeroed at the first call.
 * Return: NULL on allocation failure. */
EDDY_API void *eddy_req_layer(struct eddy_req *req, const struct eddy_req_layer *layer);

/* Get the layer's state for a request if it was created; else NULL. */
EDDY_API void *eddy_req_find_layer(const struct eddy_req *req, const struct eddy_req_layer *layer);

/* Answer with an error, rendered as the app's own (eddy_app_map_err()). Fields that are set stay.
 * `detail` explains it to the client, and may be NULL. May suspend. Return: as a filter. */
EDDY_API int eddy_res_error(struct eddy_res *res, int status, const char *detail);

/* Tell whether the request's head was rejected as malformed or too large. Filters run for such
 * requests as well, which have no method and path, and may lack fields.
 * Return: 0; else the status to answer, and the reason in `ret_detail`. */
EDDY_API int eddy_req_refusal(const struct eddy_req *req, const char **ret_detail);

/* Call `fn(data)` when the app is freed, before its memory; the function added last comes first. */
EDDY_API void eddy_app_at_free(struct eddy_app *app, void (*fn)(void *data), void *data);

/* Get the app of a group or a route. eddy_req_app() gets a request's. */
EDDY_API struct eddy_app *eddy_app_of(union eddy_target target);

EDDY_END_DECLS

#endif
