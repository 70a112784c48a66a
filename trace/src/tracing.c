/* Tracing options of an app, and the section [tracing]. */
#include "otlp_settings.h"
#include "tracing.h"

#include <eddy/internal/http.h>
#include <eddy/client.h>
#include <eddy/config.h>
#include <eddy/layer.h>

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_tracing_options, name)

#define BATCH_MAX 10000
#define QUEUE_MAX 1000000

static const struct eddy_config_key keys[] = {
	{ "header", EDDY_CONFIG_BOOL, MEMBER(header) },
	{ "header_name", EDDY_CONFIG_STRING, MEMBER(header_name), .min = 1, .max = 64 },
	{ "access_log", EDDY_CONFIG_BOOL, MEMBER(access_log) },
	{ "sample", EDDY_CONFIG_SHARE, MEMBER(sample) },
	{ "collector", EDDY_CONFIG_STRING, MEMBER(collector), .min = 1 },
	{ "collector_headers", EDDY_CONFIG_STRINGS, MEMBER(collector_headers),
	  .count_max = EDDYI_OTLP_HEADERS_MAX, .accepts = eddyi_otlp_settings_is_header,
	  .expected = "an array of up to 16 fields like \"name: value\"" },
	{ "collector_ca", EDDY_CONFIG_PATH, MEMBER(collector_ca), .min = 1 },
	{ "service", EDDY_CONFIG_STRING, MEMBER(service), .min = 1, .max = 255 },
	{ "batch_max", EDDY_CONFIG_INTEGER, MEMBER(batch_max), .min = 1, .max = BATCH_MAX },
	{ "queue_max", EDDY_CONFIG_INTEGER, MEMBER(queue_max), .min = 1, .max = QUEUE_MAX },
	{ "age_ms", EDDY_CONFIG_MS, MEMBER(age_ns), .min = 1 },
	{ "timeout_ms", EDDY_CONFIG_MS, MEMBER(timeout_ns), .min = 1 },
	{ "retry_ms", EDDY_CONFIG_MS, MEMBER(retry_ns), .min = 1 },
	{ "flush_ms", EDDY_CONFIG_MS, MEMBER(flush_ns), .min = 1 },
	{ 0 },
};

static bool are_headers(const char *const *lines)
{
	size_t count = 0;

	for (; lines && lines[count]; count++)
		if (count == EDDYI_OTLP_HEADERS_MAX || !eddyi_otlp_settings_is_header(lines[count]))
			return false;
	return true;
}

static const char *check(const struct eddy_tracing_options *options)
{
	if (options->header_name && !eddyi_res_may_set(options->header_name))
		return "header_name is not a valid field name, or is a field that the server sets";
	if (!(options->sample >= 0 && options->sample <= 1))
		return "sample must be above 0 and at most 1";
	if (options->collector && eddyi_client_check_url(options->collector) < 0)
		return "collector must be a URL like http://localhost:4318/v1/traces";
	if (!are_headers(options->collector_headers))
		return "collector_headers must be at most 16 valid fields";
	if (options->batch_max > BATCH_MAX || options->queue_max > QUEUE_MAX)
		return "batch_max must be at most 10000, queue_max at most 1000000";
	return NULL;
}

static const char *check_section(void *target)
{
	return check(target);
}

static const struct eddy_config_section section = {
	.name = "tracing",
	.keys = keys,
	.done = check_section,
};

static void init(struct eddy_app *app, void *kept)
{
	struct eddyi_tracing *tracing = kept;

	eddy_app_config_section(app, &section, &tracing->options);
}

static struct eddyi_tracing *tracing_of(struct eddy_app *app)
{
	static const struct eddy_layer layer = { "tracing", sizeof(struct eddyi_tracing), init,
						 NULL };

	return eddy_app_layer(app, &layer);
}

void eddy_app_set_tracing(struct eddy_app *app, const struct eddy_tracing_options *options)
{
	struct eddyi_tracing *tracing = tracing_of(app);
	const char *reason;

	tracing->options = options ? *options : (struct eddy_tracing_options){ 0 };
	reason = check(&tracing->options);
	if (reason)
		eddy_app_mistake(app, "eddy_app_set_tracing(): %s", reason);
}

void eddy_app_use_tracing(struct eddy_app *app)
{
	struct eddyi_tracing *tracing = tracing_of(app);

	if (tracing->used)
		return;
	tracing->used = true;
	eddy_app_observe(app, &eddyi_tracing_observer, tracing);
	if (eddy_client_observe(&eddyi_tracing_client_observer) < 0)
		eddy_app_mistake(app, "eddy_app_use_tracing(): too many observers of HTTP clients");
	eddy_app_add_task(app, "spans", eddyi_tracing_export, tracing);
}

void eddy_trace_config(struct eddy_app *app)
{
	tracing_of(app);
}
