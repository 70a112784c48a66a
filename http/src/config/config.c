#include "config.h"

#include "message/proxy_header.h"

#include <eddy/file.h>
#include <eddy/log.h>
#include <eddy/loop.h>
#include <eddy/net.h>
#include <eddy/offload.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- [server] ---- */

/* clang-format off */
#define COUNT(name, most) \
	{ #name, EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct eddy_app, options.name), .min = 1, .max = most }
#define TIME(name) \
	{ #name "_ms", EDDY_CONFIG_MS, EDDY_CONFIG_AT(struct eddy_app, options.name##_ns), .min = 1 }

#define RATE(name) \
	{ #name, EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct eddy_app, options.name), .max = EDDYI_RATE_MIN_MAX }

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_app, name)

static const char *const forwarded[] = { "none", "x-forwarded-for", "forwarded", NULL };

static bool is_address(const char *text)
{
	struct eddy_address address;

	return strcmp(text, "systemd") == 0 || strncmp(text, "systemd:", 8) == 0 ||
	       eddy_address_parse(text, &address) == 0;
}

static const struct eddy_config_key server_keys[] = {
	{ "bind", EDDY_CONFIG_STRINGS, MEMBER(config_bind),
	  .count_min = 1, .count_max = EDDYI_ADDRESSES_MAX, .or_one = true, .accepts = is_address,
	  .expected = "an address such as \"localhost:7878\", or an array of 1 to 64 of them" },
	{ "bind_plain", EDDY_CONFIG_STRINGS, MEMBER(config_bind_plain),
	  .count_max = EDDYI_ADDRESSES_MAX, .or_one = true, .accepts = is_address,
	  .expected = "an address such as \"localhost:7878\", or an array of at most 64 of them" },
	{ "proxy_protocol", EDDY_CONFIG_STRINGS, MEMBER(config_proxy_protocol),
	  .count_max = EDDYI_ADDRESSES_MAX, .or_one = true, .accepts = is_address,
	  .expected = "an address such as \"localhost:7878\", or an array of at most 64 of them" },
	{ "unix_mode", EDDY_CONFIG_MODE, MEMBER(options.unix_mode) },
	{ "trusted_proxies", EDDY_CONFIG_STRINGS, MEMBER(options.trusted_proxies),
	  .accepts = eddyi_trust_accepts,
	  .expected = "an array of IP addresses, networks like \"10.0.0.0/8\", or \"unix\"" },
	{ "forwarded", EDDY_CONFIG_WORD, MEMBER(options.forwarded), .words = forwarded },
	{ "forwarded_host", EDDY_CONFIG_BOOL, MEMBER(options.forwarded_host) },
	COUNT(proxy_header_max, EDDYI_PROXY_HEADER_MAX),
	{ "workers", EDDY_CONFIG_INTEGER, MEMBER(options.workers), .min = 1,
	  .max_offset = offsetof(struct eddy_app, options.workers_max) },
	COUNT(request_line_max, 16 * EDDY_MIB),
	COUNT(header_block_max, 16 * EDDY_MIB),
	COUNT(header_count_max, 10000),
	COUNT(body_max, 0),
	COUNT(json_values_max, 1 << 24),
	COUNT(body_memory_max, 0),
	COUNT(file_max, 0),
	COUNT(parts_max, 10000),
	COUNT(part_header_max, EDDY_MIB),
	COUNT(field_max, 0),
	COUNT(connections_max, 1 << 30),
	COUNT(connections_per_address_max, 1 << 30),
	COUNT(open_files_max, 1 << 30),
	COUNT(io_workers_max, EDDYI_IO_WORKERS_MAX),
	TIME(open_files_valid),
	{ "no_open_files", EDDY_CONFIG_BOOL, MEMBER(options.no_open_files) },
	{ "no_http2", EDDY_CONFIG_BOOL, MEMBER(options.no_http2) },
	TIME(head_timeout),
	TIME(body_timeout),
	TIME(write_timeout),
	TIME(idle_timeout),
	RATE(body_rate_min),
	RATE(write_rate_min),
	TIME(rate_grace),
	TIME(drain_timeout),
	{ "lame_duck_ms", EDDY_CONFIG_MS, MEMBER(options.lame_duck_ns) },
	{ 0 },
};
/* clang-format on */

static size_t count_addresses(const struct eddy_app *app, const char *const *replaced, bool plain)
{
	size_t count = 0;

	for (; replaced && replaced[count]; count++)
		;
	for (size_t i = 0; !replaced && i < app->address_count; i++)
		count += app->addresses[i].plain == plain;
	return count;
}

static const char *server_done(void *target)
{
	struct eddy_app *app = target;

	if (count_addresses(app, app->config_bind, false) +
		    count_addresses(app, app->config_bind_plain, true) >
	    EDDYI_ADDRESSES_MAX)
		return "bind, bind_plain: expected at most 64 addresses together";
	if (app->config_bind)
		eddyi_app_replace_addresses(app, app->config_bind, false);
	if (app->config_bind_plain)
		eddyi_app_replace_addresses(app, app->config_bind_plain, true);
	if (app->config_proxy_protocol &&
	    !eddyi_app_set_proxy_protocol(app, app->config_proxy_protocol))
		return "proxy_protocol: expected addresses at which the app listens";
	if (app->options.trusted_proxies)
		eddyi_app_set_trust(app);
	eddyi_app_set_head_limits(app);
	return NULL;
}

const struct eddy_config_section eddyi_config_server = {
	.name = "server",
	.keys = server_keys,
	.done = server_done,
};

/* ---- [runtime] ---- */

#define QUEUE_MAX (1 << 20) /* each job is on the heap */

static const struct eddy_config_key runtime_keys[] = {
	{ "stack_size", EDDY_CONFIG_INTEGER, MEMBER(options.stack_size), .min = EDDYI_STACK_MIN,
	  .max = EDDYI_STACK_MAX },
	{ "stall_ms", EDDY_CONFIG_MS, MEMBER(options.stall_ns) },
	{ "offload_threads", EDDY_CONFIG_INTEGER, MEMBER(offload.threads), .min = 1,
	  .max = EDDY_OFFLOAD_THREADS_MAX },
	{ "offload_queue_max", EDDY_CONFIG_INTEGER, MEMBER(offload.queue_max), .min = 1,
	  .max = QUEUE_MAX },
	{ 0 },
};

const struct eddy_config_section eddyi_config_runtime = {
	.name = "runtime",
	.keys = runtime_keys,
};

/* ---- text ---- */

struct parse {
	struct eddy_str text;
	struct eddyi_arena *arena;
	struct eddyi_toml *root;
	struct eddyi_toml_error error;
	int result;
};

static void parse(void *arg)
{
	struct parse *parse = arg;

	parse->result = eddyi_toml_parse(parse->text, parse->arena, &parse->root, &parse->error);
}

static struct eddy_str folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? eddy_str(path, (size_t)(slash + 1 - path)) : EDDY_STR("");
}

static void report_syntax(const struct eddy_app *app, const struct eddyi_toml_error *error)
{
	if (error->column)
		eddy_error("eddy::app", "%s:%u:%u: not TOML: %s", app->config_path, error->line,
			   error->column, error->text);
	else
		eddy_error("eddy::app", "%s:%u: not TOML: %s", app->config_path, error->line,
			   error->text);
}

static int report(const struct eddy_app *app, const struct eddyi_reading *reading)
{
	if (reading->out_of_memory)
		return -ENOMEM;
	for (const struct eddyi_blame *blame = reading->blames; blame; blame = blame->next)
		eddy_error("eddy::app", "%s:%u: %.*s", app->config_path, blame->line,
			   EDDY_FMT(blame->text));
	if (reading->blame_count > EDDYI_BLAMES_MAX)
		eddy_error("eddy::app", "%s: %u more errors", app->config_path,
			   reading->blame_count - EDDYI_BLAMES_MAX);
	return reading->blame_count ? -EINVAL : 0;
}

int eddyi_config_read_text(struct eddy_app *app, struct eddy_str text)
{
	struct eddyi_arena scratch = { 0 };
	struct parse parsed = { .text = text, .arena = &scratch };
	struct eddyi_reading reading = {
		.sections = app->sections,
		.keep = { folder_of(app->config_path), &app->arena },
		.scratch = &scratch,
	};
	int r;

	eddy_on_loop_stack(parse, &parsed);
	r = parsed.result;
	if (r == 0) {
		eddyi_sections_read(&reading, parsed.root);
		r = report(app, &reading);
	} else if (r == -EBADMSG) {
		report_syntax(app, &parsed.error);
		r = -EINVAL;
	}
	if (r == -ENOMEM)
		eddy_error("eddy::app", "%s: out of memory", app->config_path);
	eddyi_arena_deinit(&scratch);
	return r;
}

/* ---- file ---- */

struct load {
	const char *path;
	char *bytes;
	ssize_t len; /* or -errno */
};

/* Runs on a thread of the offload pool. */
static int load(void *arg)
{
	struct load *file = arg;

	file->len = eddy_file_load(file->path, EDDYI_CONFIG_FILE_MAX, &file->bytes);
	return 0;
}

static const char *reason_of(int error)
{
	switch (error) {
	case -EISDIR:
		return "expected a regular file";
	case -EFBIG:
		return "expected at most 1 MiB";
	}
	return strerror(-error);
}

/* Suspends in a task. Return: 0; -EINVAL or another -errno, after log records; -ENOMEM,
 * -ECANCELED. */
static int read_config(struct eddy_app *app)
{
	struct load file = { .path = app->config_path };
	int r = eddy_loop_self() ? eddy_offload(load, &file) : load(&file);

	if (r < 0)
		return r;
	if (file.len < 0) {
		eddy_error("eddy::app", "can't read the configuration file \"%s\": %s", file.path,
			   reason_of((int)file.len));
		return (int)file.len;
	}
	r = eddyi_config_read_text(app, eddy_str(file.bytes, (size_t)file.len));
	free(file.bytes);
	return r;
}

void eddy_app_with_config(struct eddy_app *app, const char *path)
{
	app->config_path = eddyi_app_printf(app, "%s", path).ptr;
	app->read_config = path ? read_config : NULL;
	eddy_app_config_section(app, &eddyi_config_server, app);
	eddy_app_config_section(app, &eddyi_config_runtime, app);
	eddy_app_config_section(app, &eddyi_config_transfer, app);
}
