#include "app.h"

#include "message/proxy_header.h"
#include "tls/tls_setup.h"

#include <eddy/internal/outside.h>
#include <eddy/config.h>
#include <eddy/layer.h>
#include <eddy/log.h>
#include <eddy/scope.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_DEFAULT "localhost:7878"

/* A mistake in the app's setup, reported when it runs. */
struct mistake {
	struct mistake *next;
	struct eddy_str text;
};

struct start {
	struct start *next;
	eddy_start_fn *fn;
	void *data;
	bool is_done; /* called since it was added */
};

struct ending {
	struct ending *next;
	void (*fn)(void *data);
	void *data;
};

/* Memory of a layer. */
struct kept {
	struct kept *next;
	const struct eddy_layer *layer;
	void *memory;
};

static void out_of_memory(void)
{
	fputs("eddy: out of memory\n", stderr);
	abort();
}

void *eddy_app_alloc(struct eddy_app *app, size_t size)
{
	void *memory = eddyi_arena_alloc(&app->arena, size);

	if (!memory)
		out_of_memory();
	return memset(memory, 0, size);
}

struct eddy_str eddyi_app_printf(struct eddy_app *app, const char *format, ...)
{
	struct eddy_str text;
	va_list args;

	va_start(args, format);
	text = eddyi_arena_vprintf(&app->arena, format, args);
	va_end(args);
	if (!text.ptr)
		out_of_memory();
	return text;
}

void eddy_app_mistake(struct eddy_app *app, const char *format, ...)
{
	struct mistake *mistake = eddy_app_alloc(app, sizeof(*mistake));
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mistake->next = NULL;
	mistake->text = eddyi_app_printf(app, "%s", text);
	*app->mistakes_end = mistake;
	app->mistakes_end = &mistake->next;
}

void eddy_app_at_start(struct eddy_app *app, eddy_start_fn *fn, void *data)
{
	struct start **at = &app->starts;

	while (*at && ((*at)->fn != fn || (*at)->data != data))
		at = &(*at)->next;
	if (!*at) {
		*at = eddy_app_alloc(app, sizeof(**at));
		**at = (struct start){ .fn = fn, .data = data };
	}
	(*at)->is_done = false;
}

void eddy_app_at_free(struct eddy_app *app, void (*fn)(void *data), void *data)
{
	struct ending *ending = eddy_app_alloc(app, sizeof(*ending));

	*ending = (struct ending){ app->endings, fn, data };
	app->endings = ending;
}

void eddy_app_add_task(struct eddy_app *app, const char *name, eddy_task_fn *fn, void *data)
{
	struct eddyi_beside *beside = eddy_app_alloc(app, sizeof(*beside));

	*beside = (struct eddyi_beside){ app->beside, name, fn, data };
	app->beside = beside;
}

void *eddy_app_find_layer(const struct eddy_app *app, const struct eddy_layer *layer)
{
	const struct kept *kept = app->layers;

	while (kept && kept->layer != layer)
		kept = kept->next;
	return kept ? kept->memory : NULL;
}

void *eddy_app_layer(struct eddy_app *app, const struct eddy_layer *layer)
{
	void *found = eddy_app_find_layer(app, layer);
	struct kept *kept;

	if (found)
		return found;
	kept = eddy_app_alloc(app, sizeof(*kept));
	*kept = (struct kept){ app->layers, layer, eddy_app_alloc(app, layer->size) };
	app->layers = kept;
	if (layer->init)
		layer->init(app, kept->memory);
	if (layer->deinit)
		eddy_app_at_free(app, layer->deinit, kept->memory);
	return kept->memory;
}

struct eddy_app *eddy_app_of(union eddy_target target)
{
	return eddyi_owner(target)->app;
}

/* At the start: PROXY headers are trusted, so there must be trusted proxies. */
static int check_senders(struct eddy_app *app, void *data)
{
	(void)data;
	if (app->trust.count || app->trust.unix_sockets)
		return 0;
	for (size_t i = 0; i < app->address_count; i++)
		if (app->addresses[i].proxy_protocol)
			eddy_app_mistake(
				app,
				"\"%s\" uses the PROXY protocol, which requires .trusted_proxies",
				app->addresses[i].text);
	return 0;
}

struct eddy_app *eddy_app_new(void)
{
	struct eddy_app *app = calloc(1, sizeof(*app));
	const char *reason;

	if (!app)
		out_of_memory();
	app->mistakes_end = &app->mistakes;
	app->routes_end = &app->routes;
	eddy_mutex_init(&app->preparing);
	app->router = eddyi_router_new();
	if (!app->router)
		out_of_memory();
	app->root = (struct eddy_group){ .owner.app = app, .prefix = EDDY_STR("") };
	eddyi_filters_init(&app->root.owner.filters, NULL);
	if (eddyi_router_add_prefix(app->router, app->root.prefix, &app->root, &reason) < 0)
		out_of_memory();
	app->addresses[0].text = ADDRESS_DEFAULT;
	app->address_count = 1;
	app->has_default_address = true;
	eddy_app_at_start(app, check_senders, NULL);
	eddy_app_with_server(app, NULL);
	return app;
}

static void deinit(struct eddy_app *app)
{
	for (struct ending *ending = app->endings; ending; ending = ending->next)
		ending->fn(ending->data);
	eddyi_mime_free(app->mime);
	eddyi_arena_deinit(&app->arena);
	eddyi_arena_trim();
	eddyi_router_free(app->router);
	if (EDDYI_TLS)
		eddyi_tls_setup_free(app->tls);
}

/* Apps that eddy_app_run_blocking() has freed, until eddy_app_free(), which most programs don't call:
 * no other app gets the same address in between. By this list, leak checkers find them. */
static struct eddy_app *gone;
static pthread_mutex_t gone_lock = PTHREAD_MUTEX_INITIALIZER;

void eddyi_app_retire(struct eddy_app *app)
{
	deinit(app);
	memset(app, 0, sizeof(*app));
	app->is_gone = true;
	pthread_mutex_lock(&gone_lock);
	app->next_gone = gone;
	gone = app;
	pthread_mutex_unlock(&gone_lock);
}

static void forget_gone(struct eddy_app *app)
{
	struct eddy_app **at = &gone;

	pthread_mutex_lock(&gone_lock);
	while (*at != app)
		at = &(*at)->next_gone;
	*at = app->next_gone;
	pthread_mutex_unlock(&gone_lock);
}

void eddy_app_free(struct eddy_app *app)
{
	if (!app)
		return;
	if (app->is_gone)
		forget_gone(app);
	else
		deinit(app);
	free(app);
}

void eddyi_app_set_head_limits(struct eddy_app *app)
{
	app->head_limits = (struct eddyi_head_limits){
		.request_line_max = app->options.request_line_max,
		.header_block_max = app->options.header_block_max,
		.header_count_max = app->options.header_count_max,
	};
}

#define DEFAULT(field, value)                                                                      \
	do {                                                                                       \
		if (!app->options.field)                                                           \
			app->options.field = (value);                                              \
	} while (0)

void eddyi_app_set_trust(struct eddy_app *app)
{
	const char *const *proxy = app->options.trusted_proxies;

	app->trust = (struct eddyi_trust){ 0 };
	for (; proxy && *proxy; proxy++) {
		int r = eddyi_trust_add(&app->trust, &app->arena, eddy_str_from(*proxy));

		if (r == -ENOMEM)
			out_of_memory();
		if (r < 0)
			eddy_app_mistake(app,
					 "can't trust the proxies at \"%s\": write an IP address, "
					 "a network like 10.0.0.0/8, or unix",
					 *proxy);
	}
	app->options.trusted_proxies = NULL; /* was borrowed */
}

/* From here on 0 is no minimum. */
static void set_rate(struct eddy_app *app, const char *name, uint64_t *rate)
{
	if (!*rate)
		*rate = 500;
	else if (*rate == EDDY_NEVER)
		*rate = 0;
	else if (*rate > EDDYI_RATE_MIN_MAX)
		eddy_app_mistake(app, ".%s is %" PRIu64 ": at most %d", name, *rate,
				 EDDYI_RATE_MIN_MAX);
}

void eddy_app_with_server(struct eddy_app *app, const struct eddy_server_options *options)
{
	const struct eddy_transfer_options *transfer = options ? options->transfer : NULL;

	app->options = options ? *options : (struct eddy_server_options){ 0 };
	DEFAULT(workers, 1);
	DEFAULT(workers_max, EDDYI_WORKERS_MAX);
	DEFAULT(request_line_max, 8 * EDDY_KIB);
	DEFAULT(header_block_max, 16 * EDDY_KIB);
	DEFAULT(header_count_max, 100);
	DEFAULT(body_max, EDDY_MIB);
	DEFAULT(json_values_max, 16384);
	DEFAULT(file_max, EDDY_GIB);
	DEFAULT(parts_max, 64);
	DEFAULT(proxy_header_max, 4 * EDDY_KIB);
	DEFAULT(part_header_max, 8 * EDDY_KIB);
	DEFAULT(field_max, 64 * EDDY_KIB);
	DEFAULT(open_files_max, 1000);
	DEFAULT(open_files_valid_ns, EDDY_SECOND);
	DEFAULT(head_timeout_ns, 10 * EDDY_SECOND);
	DEFAULT(body_timeout_ns, 30 * EDDY_SECOND);
	DEFAULT(write_timeout_ns, 30 * EDDY_SECOND);
	DEFAULT(idle_timeout_ns, 60 * EDDY_SECOND);
	DEFAULT(rate_grace_ns, 20 * EDDY_SECOND);
	DEFAULT(drain_timeout_ns, 10 * EDDY_SECOND);
	set_rate(app, "body_rate_min", &app->options.body_rate_min);
	set_rate(app, "write_rate_min", &app->options.write_rate_min);
	if (app->options.workers_max > EDDYI_WORKERS_MAX)
		app->options.workers_max = EDDYI_WORKERS_MAX;
	if (app->options.workers > app->options.workers_max)
		eddy_app_mistake(app, "%u workers are too many: at most %u", app->options.workers,
				 app->options.workers_max);
	if (app->options.io_workers_max > EDDYI_IO_WORKERS_MAX)
		eddy_app_mistake(app, "%u io workers are too many: at most %u",
				 app->options.io_workers_max, EDDYI_IO_WORKERS_MAX);
	if (app->options.stack_size && (app->options.stack_size < EDDYI_STACK_MIN ||
					app->options.stack_size > EDDYI_STACK_MAX)) {
		eddy_app_mistake(app, ".stack_size is %zu bytes: expected %zu to %zu",
				 app->options.stack_size, (size_t)EDDYI_STACK_MIN,
				 (size_t)EDDYI_STACK_MAX);
		app->options.stack_size = 0;
	}
	if (app->options.proxy_header_max > EDDYI_PROXY_HEADER_MAX)
		eddy_app_mistake(app, ".proxy_header_max is %zu bytes: at most %zu",
				 app->options.proxy_header_max, EDDYI_PROXY_HEADER_MAX);
	app->has_transfer = transfer != NULL;
	if (transfer) {
		app->transfer = *transfer;
		app->options.transfer = NULL; /* was borrowed */
		if (eddy_transfer_options_check(&app->transfer) < 0)
			eddy_app_mistake(app, "an option of .transfer is out of range");
	}
	eddyi_app_set_trust(app);
	eddyi_app_set_head_limits(app);
}

void eddy_app_set_context(struct eddy_app *app, void *context)
{
	app->context = context;
}

void eddy_app_map_fallback(struct eddy_app *app, eddy_handler_fn *handler)
{
	app->fallback = handler;
}

void eddy_app_map_err(struct eddy_app *app, eddy_err_fn *fn)
{
	app->render_error = fn;
}

void eddy_app_add_filter(union eddy_target target, eddy_filter_fn *filter, void *data)
{
	eddy_app_add_guard(target, filter, data, NULL);
}

void eddy_app_add_guard(union eddy_target target, eddy_filter_fn *filter, void *data,
			const struct eddy_guard *guard)
{
	struct eddyi_owner *owner = eddyi_owner(target);
	struct eddyi_filter *added;

	if (!filter) {
		eddy_app_mistake(owner->app, "a filter is NULL");
		return;
	}
	added = eddy_app_alloc(owner->app, sizeof(*added));
	*added = (struct eddyi_filter){ .fn = filter, .data = data, .is_guard = guard };
	if (guard)
		added->guard = *guard;
	*owner->filters.end = added;
	owner->filters.end = &added->next;
}

bool eddyi_app_report_mistakes(const struct eddy_app *app)
{
	for (const struct mistake *mistake = app->mistakes; mistake; mistake = mistake->next)
		eddy_error("eddy::app", "%.*s", EDDY_FMT(mistake->text));
	return app->mistakes != NULL;
}

/* With `again`, repeat what has been done. */
static int start_all(struct eddy_app *app, bool again)
{
	for (struct start *start = app->starts; start; start = start->next) {
		int r = again || !start->is_done ? start->fn(app, start->data) : 0;

		if (r < 0)
			return r;
		start->is_done = true;
	}
	return 0;
}

static int read_config(struct eddy_app *app)
{
	return app->read_config ? app->read_config(app) : 0;
}

void eddyi_app_read_early(struct eddy_app *app)
{
	app->read_result = read_config(app);
	app->has_read_config = true;
}

static int prepare(struct eddy_app *app, bool is_run)
{
	int r = app->has_read_config ? app->read_result : read_config(app), started = 0;

	app->has_read_config = false;
	if (r == 0)
		eddy_offload_configure(&app->offload);
	/* If there is a mistake, report it once. */
	if (r == 0)
		r = started = start_all(app, is_run && !app->mistakes);
	if (eddyi_app_report_mistakes(app))
		return -EINVAL;
	if (started < 0 && started != -ENOMEM && !eddy_is_cancelled())
		eddy_error("eddy::app", "can't start: a function of eddy_app_at_start() failed: %s",
			   strerror(-started));
	/* Kept from now on, since several tests of the app may run at once. */
	if (r == 0 && !app->mime) {
		app->mime = eddyi_mime_new(EDDYI_MIME_FILE);
		r = app->mime ? 0 : -ENOMEM;
	}
	if (r == -ENOMEM)
		eddy_error("eddy::app", "can't start: out of memory");
	return r;
}

void eddyi_app_stand_in(struct eddy_app *app)
{
	if (eddy_log_text_subscribe() < 0)
		return;
	eddy_log_set_filter("error");
	app->stands_in = true;
}

void eddyi_app_stand_back(struct eddy_app *app)
{
	if (app->stands_in)
		eddy_log_unsubscribe();
	app->stands_in = false;
}

int eddyi_app_prepare(struct eddy_app *app, bool is_run)
{
	int r;

	if (app->is_gone) {
		eddy_error("eddy::app", "can't start: eddy_app_run_blocking() has freed this app");
		return -EINVAL;
	}
	r = eddy_mutex_lock(&app->preparing);
	if (r < 0)
		return r;
	r = prepare(app, is_run);
	eddy_mutex_unlock(&app->preparing);
	return r;
}

uint16_t eddy_app_port(const struct eddy_app *app)
{
	return (uint16_t)atomic_load(&app->port);
}

/* ---- addresses ---- */

static struct eddyi_address make_address(struct eddy_app *app, const char *text,
					 const struct eddy_bind_options *options)
{
	return (struct eddyi_address){
		.text = eddyi_app_printf(app, "%s", text).ptr,
		.plain = options && options->plain,
		.proxy_protocol = options && options->proxy_protocol,
	};
}

void eddy_app_bind(struct eddy_app *app, const char *address)
{
	app->addresses[0] = make_address(app, address, NULL);
	if (!app->address_count)
		app->address_count = 1;
	app->has_default_address = false;
}

void eddy_app_add_bind(struct eddy_app *app, const char *address,
		       const struct eddy_bind_options *options)
{
	if (app->has_default_address)
		app->address_count = 0;
	app->has_default_address = false;
	if (app->address_count == EDDYI_ADDRESSES_MAX)
		eddy_app_mistake(app, "can't listen on \"%s\": an app has at most %d addresses",
				 address, EDDYI_ADDRESSES_MAX);
	else
		app->addresses[app->address_count++] = make_address(app, address, options);
}

/* Plain addresses come last. */
void eddyi_app_replace_addresses(struct eddy_app *app, const char *const *texts, bool plain)
{
	struct eddyi_address all[EDDYI_ADDRESSES_MAX];
	size_t count = 0;

	for (int kind = false; kind <= true; kind++) {
		for (; kind == plain && *texts; texts++)
			all[count++] = (struct eddyi_address){ .text = *texts, .plain = plain };
		for (size_t i = 0; kind != plain && i < app->address_count; i++)
			if (app->addresses[i].plain == kind)
				all[count++] = app->addresses[i];
	}
	memcpy(app->addresses, all, count * sizeof(*all));
	app->address_count = count;
}

bool eddyi_app_set_proxy_protocol(struct eddy_app *app, const char *const *texts)
{
	for (size_t i = 0; i < app->address_count; i++)
		app->addresses[i].proxy_protocol = false;
	for (; *texts; texts++) {
		bool found = false;

		for (size_t i = 0; i < app->address_count; i++)
			if (strcmp(app->addresses[i].text, *texts) == 0)
				found = app->addresses[i].proxy_protocol = true;
		if (!found)
			return false;
	}
	return true;
}

/* ---- copies of borrowed strings ---- */

const char *eddy_app_keep_string(struct eddy_app *app, const char *string)
{
	size_t size = string ? strlen(string) + 1 : 0;

	return string ? memcpy(eddy_app_alloc(app, size), string, size) : NULL;
}

static const char *const *keep_list(struct eddy_app *app, const char *const *list)
{
	const char **copy;
	size_t count = 0;

	if (!list)
		return NULL;
	while (list[count])
		count++;
	copy = eddy_app_alloc(app, (count + 1) * sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = eddy_app_keep_string(app, list[i]);
	return copy;
}

void eddy_app_keep_strings(struct eddy_app *app, const struct eddy_config_key *keys, void *target)
{
	for (; keys->name; keys++) {
		void *member = (char *)target + keys->offset;

		if (keys->type == EDDY_CONFIG_STRING || keys->type == EDDY_CONFIG_PATH)
			*(const char **)member = eddy_app_keep_string(app, *(const char **)member);
		else if (keys->type == EDDY_CONFIG_STRINGS)
			*(const char *const **)member =
				keep_list(app, *(const char *const **)member);
	}
}

/* ---- tasks beside requests ---- */

static int spawn_all(const struct eddy_app *app, struct eddy_scope *scope)
{
	int r = 0;

	for (const struct eddyi_beside *beside = app->beside; beside && r == 0;
	     beside = beside->next)
		r = eddy_scope_spawn(scope, beside->name, beside->fn, beside->data);
	return r;
}

static int keep_beside(void *arg)
{
	struct eddyi_beside_keeper *keeper = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .shielded = true });
	keeper->result = spawn_all(keeper->app, &scope);
	eddy_event_set(&keeper->begun);
	eddy_event_wait(&keeper->served);
	return eddy_scope_end(&scope);
}

void eddyi_beside_init(struct eddyi_beside_keeper *keeper, const struct eddy_app *app)
{
	keeper->app = app;
	keeper->result = 0;
	eddy_event_init(&keeper->begun);
	eddy_event_init(&keeper->served);
}

int eddyi_beside_begin(struct eddyi_beside_keeper *keeper, struct eddy_scope *scope)
{
	struct eddy_scope shield;
	int r;

	if (!keeper->app->beside)
		return 0;
	r = eddy_scope_spawn(scope, "beside", keep_beside, keeper);
	if (r == 0) {
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		eddy_event_wait(&keeper->begun);
		eddy_scope_end(&shield);
		r = keeper->result;
	}
	if (r < 0)
		eddy_error("eddy::app", "can't start the background tasks: %s", strerror(-r));
	return r;
}

void eddyi_beside_end(struct eddyi_beside_keeper *keeper)
{
	eddy_event_set(&keeper->served);
}
