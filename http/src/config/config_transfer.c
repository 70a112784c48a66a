/* The section [transfer]: struct eddy_transfer_options. */
#include "config.h"

#include <string.h>

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_app, name)

static enum eddy_technique technique_of(const char *name)
{
	enum eddy_technique technique = EDDY_TECHNIQUE_AUTO;

	eddy_technique_parse(eddy_str_from(name), &technique);
	return technique;
}

static bool is_known(const char *name)
{
	return technique_of(name) != EDDY_TECHNIQUE_AUTO || strcmp(name, "auto") == 0;
}

static bool goes_out(const char *name)
{
	struct eddy_transfer_options options = { .technique = technique_of(name) };

	return is_known(name) && eddy_transfer_options_check(&options) == 0;
}

static bool goes_in(const char *name)
{
	struct eddy_transfer_options options = { .technique_in = technique_of(name) };

	return is_known(name) && eddy_transfer_options_check(&options) == 0;
}

/* clang-format off */
static const struct eddy_config_key transfer_keys[] = {
	{ "technique", EDDY_CONFIG_STRING, MEMBER(config_technique), .accepts = goes_out,
	  .expected = "\"auto\", \"splice\", \"ring-splice\", \"sendfile\", \"read-send\", \"mmap\", \"send-zc\" or \"dontcache\"" },
	{ "technique_in", EDDY_CONFIG_STRING, MEMBER(config_technique_in), .accepts = goes_in,
	  .expected = "\"auto\", \"splice\", \"ring-splice\" or \"recv-write\"" },
	{ "copied_out_max", EDDY_CONFIG_INTEGER, MEMBER(transfer.copied_out_max), .min = 1, .max = EDDY_MIB },
	{ "sendfile_out_max", EDDY_CONFIG_INTEGER, MEMBER(transfer.sendfile_out_max), .min = 1 },
	{ "spliced_in_min", EDDY_CONFIG_INTEGER, MEMBER(transfer.spliced_in_min), .min = 1 },
	{ "corked_min", EDDY_CONFIG_INTEGER, MEMBER(transfer.corked_min), .min = 1 },
	{ "uncached_min", EDDY_CONFIG_INTEGER, MEMBER(transfer.uncached_min), .min = 1 },
	{ "turn_max", EDDY_CONFIG_INTEGER, MEMBER(transfer.turn_max), .min = 4 * EDDY_KIB, .max = EDDY_MIB },
	{ "pipe_size", EDDY_CONFIG_INTEGER, MEMBER(transfer.pipe_size), .min = 4 * EDDY_KIB, .max = EDDY_GIB },
	{ "pipes_kept", EDDY_CONFIG_INTEGER, MEMBER(transfer.pipes_kept), .min = 1, .max = 1024 },
	{ "pipes_held_max", EDDY_CONFIG_INTEGER, MEMBER(transfer.pipes_held_max), .min = 1, .max = 1024 },
	{ "no_warming", EDDY_CONFIG_BOOL, MEMBER(transfer.no_warming) },
	{ "slow_write_ms", EDDY_CONFIG_MS, MEMBER(transfer.slow_write_ns), .min = 1 },
	{ 0 },
};
/* clang-format on */

static const char *transfer_done(void *target)
{
	struct eddy_app *app = target;

	if (app->config_technique)
		app->transfer.technique = technique_of(app->config_technique);
	if (app->config_technique_in)
		app->transfer.technique_in = technique_of(app->config_technique_in);
	app->has_transfer = true;
	return NULL;
}

const struct eddy_config_section eddyi_config_transfer = {
	.name = "transfer",
	.keys = transfer_keys,
	.done = transfer_done,
};
