/* eddy/layer.h: what a layer that stands on http keeps in an app, as compress, trace and auth do.
 *
 *     static const struct eddy_layer things = { "things", sizeof(struct things), init, deinit };
 *
 *     void eddy_app_use_thing(struct eddy_app *app, const char *name)
 *     {
 *             struct things *kept = eddy_app_layer(app, &things);
 *
 *             if (add_thing(kept, name) < 0)
 *                     eddy_app_mistake(app, "eddy_app_use_thing(): there is no \"%s\"", name);
 *             eddy_app_add_filter_with(app, filter, kept);
 *     }
 */
#ifndef EDDY_LAYER_H
#define EDDY_LAYER_H

#include <eddy/app.h>
#include <eddy/loop.h>

EDDY_BEGIN_DECLS

struct eddy_config_key;

/* Memory that lives as long as the app, zeroed. Never NULL: while an app is built there is nothing to
 * save yet, and the process ends when memory is out. */
EDDY_API void *eddy_app_alloc(struct eddy_app *app, size_t size);

/* Copy a string, so that it lives as long as the app; NULL is NULL. */
EDDY_API const char *eddy_app_keep_string(struct eddy_app *app, const char *string);

/* Put such copies in place of the strings and lists of strings that a table of keys (eddy/config.h) sets in
 * `target`: for options that a program has borrowed. */
EDDY_API void eddy_app_keep_strings(struct eddy_app *app, const struct eddy_config_key *keys,
				    void *target);

/* Keep something that is wrong with the app: run reports it, and does not start. */
EDDY_PRINTF(2, 3) EDDY_API void eddy_app_mistake(struct eddy_app *app, const char *format, ...);

/* What a layer keeps in an app, once. */
struct eddy_layer {
	const char *name; /* for people */
	size_t size;
	void (*init)(struct eddy_app *app, void *kept); /* of zeroed memory; may be NULL */
	void (*deinit)(void *kept);                     /* when the app is freed; may be NULL */
};

/* What the layer keeps in this app; made when it is asked for the first time. Never NULL. */
EDDY_API void *eddy_app_layer(struct eddy_app *app, const struct eddy_layer *layer);

/* The same if it was asked for before; else NULL. Any thread, once the app runs. */
EDDY_API void *eddy_app_find_layer(const struct eddy_app *app, const struct eddy_layer *layer);

/* Look at an app that is about to begin. May suspend, keep mistakes (which is how people hear of them) and map
 * routes. Return: 0; -ECANCELED, -ENOMEM and the like when it could not be done: the app does not begin now. */
typedef int eddy_start_fn(struct eddy_app *app, void *data);

/* Call `fn(app, data)` each time before the app runs, and once before it is tested for the first time from now on:
 * what it is told is decided by then, its configuration file has been read without a mistake, and nothing listens
 * yet. The first that was asked for is called first; one that has failed is called again at the next attempt.
 * Asked for once more it is called once, also before a test. */
EDDY_API void eddy_app_at_start(struct eddy_app *app, eddy_start_fn *fn, void *data);

/* What a layer keeps for one request. */
struct eddy_req_layer {
	const char *name; /* for people */
	size_t size;
	void (*deinit)(void *kept); /* when the request is over, answer sent or not; may be NULL */
};

/* What the layer keeps for this request; made when it is asked for the first time, zeroed.
 * Return: NULL when memory is out. */
EDDY_API void *eddy_req_layer(struct eddy_req *req, const struct eddy_req_layer *layer);

/* The same if it was asked for before; else NULL. */
EDDY_API void *eddy_req_find_layer(const struct eddy_req *req, const struct eddy_req_layer *layer);

/* Answer with an error in place of a handler, rendered as the app renders its own (eddy_app_map_err()); fields that were
 * set stay. `detail` helps the caller, and may be NULL. May suspend. Return: as a filter. */
EDDY_API int eddy_res_error(struct eddy_res *res, int status, const char *detail);

/* Tell whether a head was refused: malformed, or too large. Filters see such requests too, of which no more than some
 * fields may be known. Return: 0; else the status that is to be answered, and why in `ret_detail`. */
EDDY_API int eddy_req_refusal(const struct eddy_req *req, const char **ret_detail);

/* Run `fn(data)` as a task whenever the app runs: on the loop that eddy_app_run() was called in, from before
 * the first request until the last one is over. Then it is cancelled and awaited; what it still does takes a
 * scope that is shielded, and has a timeout. What it returns is of no interest. eddy_app_test() runs one as
 * well, and several tests at once run one each. `name` and `data` are borrowed. */
EDDY_API void eddy_app_add_task(struct eddy_app *app, const char *name, eddy_task_fn *fn,
				void *data);

/* Call `fn` when the app is freed, before its memory is; the last one that was asked for is called first. */
EDDY_API void eddy_app_at_free(struct eddy_app *app, void (*fn)(void *data), void *data);

/* The app that a group or a route is of; a request's is eddy_req_app(). */
EDDY_API struct eddy_app *eddy_group_app(const struct eddy_group *group);
EDDY_API struct eddy_app *eddy_route_app(const struct eddy_route *route);

EDDY_END_DECLS

#endif
