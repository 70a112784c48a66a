#include "app.h"

#include <eddy/log.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_DEFAULT "localhost:7878"
#define WORKERS_MAX 1024

/* Something that is wrong with the app; said when it is run. */
struct mistake {
	struct mistake *next;
	struct eddy_str text;
};

static void out_of_memory(void)
{
	fputs("eddy: out of memory\n", stderr);
	abort();
}

EDDY_PRINTF(2, 3) static void mistake(struct eddy_app *app, const char *format, ...)
{
	struct mistake *mistake = eddyi_arena_alloc(&app->arena, sizeof(*mistake));
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!mistake)
		out_of_memory();
	mistake->next = NULL;
	mistake->text = eddyi_arena_dup(&app->arena, eddy_str_from(text));
	*app->mistakes_end = mistake;
	app->mistakes_end = &mistake->next;
}

struct eddy_app *eddy_app_new(void)
{
	struct eddy_app *app = calloc(1, sizeof(*app));

	/* Nothing runs yet: there is nothing to save, and nobody who could be told. */
	if (!app)
		out_of_memory();
	app->mistakes_end = &app->mistakes;
	app->router = eddyi_router_new();
	if (!app->router)
		out_of_memory();
	eddy_app_bind(app, ADDRESS_DEFAULT);
	eddy_app_with_server(app, &(struct eddy_server_options){ 0 });
	return app;
}

void eddy_app_free(struct eddy_app *app)
{
	if (!app)
		return;
	eddyi_arena_deinit(&app->arena);
	eddyi_arena_trim();
	eddyi_router_free(app->router);
	free(app->filters);
	free(app);
}

void eddy_app_bind(struct eddy_app *app, const char *address)
{
	struct eddy_str copy = eddyi_arena_dup(&app->arena, eddy_str_from(address));

	if (!copy.ptr)
		out_of_memory();
	app->address = copy.ptr;
}

#define DEFAULT(field, value)                                                                      \
	do {                                                                                       \
		if (!app->options.field)                                                           \
			app->options.field = (value);                                              \
	} while (0)

void eddy_app_with_server(struct eddy_app *app, const struct eddy_server_options *options)
{
	app->options = *options;
	DEFAULT(workers, 1);
	DEFAULT(request_line_max, 8 * EDDY_KIB);
	DEFAULT(header_block_max, 16 * EDDY_KIB);
	DEFAULT(header_count_max, 100);
	DEFAULT(body_max, EDDY_MIB);
	DEFAULT(file_max, EDDY_GIB);
	DEFAULT(parts_max, 64);
	DEFAULT(head_timeout_ns, 10 * EDDY_SECOND);
	DEFAULT(body_timeout_ns, 30 * EDDY_SECOND);
	DEFAULT(write_timeout_ns, 30 * EDDY_SECOND);
	DEFAULT(idle_timeout_ns, 60 * EDDY_SECOND);
	DEFAULT(drain_timeout_ns, 10 * EDDY_SECOND);
	if (app->options.workers > WORKERS_MAX)
		mistake(app, "%u workers are too many: at most %u", app->options.workers,
			WORKERS_MAX);
	app->head_limits = (struct eddyi_head_limits){
		.request_line_max = app->options.request_line_max,
		.header_block_max = app->options.header_block_max,
		.header_count_max = app->options.header_count_max,
	};
}

void eddy_app_set_context(struct eddy_app *app, void *context)
{
	app->context = context;
}

struct eddy_route *eddy_app_map(struct eddy_app *app, const char *method, const char *pattern,
				eddy_handler_fn *handler)
{
	enum eddyi_method known = eddyi_method_from(eddy_str_from(method));
	struct eddy_route *route = eddyi_arena_alloc(&app->arena, sizeof(*route));
	const char *reason = "";
	int r;

	if (!route)
		out_of_memory();
	*route = (struct eddy_route){ .app = app, .handler = handler };
	r = eddyi_router_add(app->router, known, eddy_str_from(pattern), route, &reason);
	if (r < 0)
		mistake(app, "can't map %s \"%s\": %s", method, pattern, reason);
	else if (!handler)
		mistake(app, "can't map %s \"%s\": the handler is NULL", method, pattern);
	return route;
}

#define MAPPER(name, method)                                                                       \
	struct eddy_route *eddy_app_map_##name(struct eddy_app *app, const char *pattern,          \
					       eddy_handler_fn *handler)                           \
	{                                                                                          \
		return eddy_app_map(app, method, pattern, handler);                                \
	}

MAPPER(get, "GET")
MAPPER(head, "HEAD")
MAPPER(post, "POST")
MAPPER(put, "PUT")
MAPPER(patch, "PATCH")
MAPPER(delete, "DELETE")
MAPPER(options, "OPTIONS")
MAPPER(trace, "TRACE")
MAPPER(connect, "CONNECT")

void eddy_app_map_fallback(struct eddy_app *app, eddy_handler_fn *handler)
{
	app->fallback = handler;
}

void eddy_app_add_filter(struct eddy_app *app, eddy_filter_fn *filter)
{
	size_t size = (app->filter_count + 1) * sizeof(*app->filters);
	eddy_filter_fn **filters = realloc(app->filters, size);

	if (!filters)
		out_of_memory();
	filters[app->filter_count++] = filter;
	app->filters = filters;
}

bool eddyi_app_report_mistakes(const struct eddy_app *app)
{
	for (const struct mistake *mistake = app->mistakes; mistake; mistake = mistake->next)
		eddy_error("eddy::app", "%.*s", EDDY_FMT(mistake->text));
	return app->mistakes != NULL;
}

uint16_t eddy_app_port(const struct eddy_app *app)
{
	return (uint16_t)atomic_load(&app->port);
}
