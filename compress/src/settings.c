/* Compression options: the section [compression], validation, and the resulting settings. */
#include "settings.h"

#include "state.h"

#include <eddy/config.h>
#include <eddy/layer.h>
#include <errno.h>
#include <stdio.h>

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_compression_options, name)

static const struct eddy_config_key keys[] = {
	{ "order", EDDY_CONFIG_STRINGS, MEMBER(order) },
	{ "zstd_level", EDDY_CONFIG_INTEGER, MEMBER(zstd_level), .min = 1, .max = 19 },
	{ "br_level", EDDY_CONFIG_INTEGER, MEMBER(br_level), .min = 1, .max = 11 },
	{ "gzip_level", EDDY_CONFIG_INTEGER, MEMBER(gzip_level), .min = 1, .max = 9 },
	{ "deflate_level", EDDY_CONFIG_INTEGER, MEMBER(deflate_level), .min = 1, .max = 9 },
	{ "size_min", EDDY_CONFIG_INTEGER, MEMBER(size_min) },
	{ "leave_types", EDDY_CONFIG_STRINGS, MEMBER(leave_types) },
	{ "cache_max", EDDY_CONFIG_INTEGER, MEMBER(cache_max), .min = 1 },
	{ "no_cache", EDDY_CONFIG_BOOL, MEMBER(no_cache) },
	{ 0 },
};

/* The options are the beginning of the settings. */
static const char *take_section(void *target)
{
	return eddyi_settings_apply(target);
}

static const struct eddy_config_section section = {
	.name = "compression",
	.keys = keys,
	.done = take_section,
};

static void init(struct eddy_app *app, void *kept)
{
	struct eddyi_settings *settings = kept;

	eddyi_cache_init(&settings->cache);
	eddyi_settings_apply(settings);
	eddy_app_config_section(app, &section, settings);
}

static void deinit(void *kept)
{
	struct eddyi_settings *settings = kept;

	eddyi_cache_deinit(&settings->cache);
}

struct eddyi_settings *eddyi_settings_of(struct eddy_app *app)
{
	static const struct eddy_layer layer = { "compression", sizeof(struct eddyi_settings), init,
						 deinit };

	return eddy_app_layer(app, &layer);
}

struct eddyi_settings *eddyi_settings_new(struct eddy_app *app,
					  const struct eddy_compression_options *options)
{
	struct eddyi_settings *settings = eddy_app_alloc(app, sizeof(*settings));
	const char *reason;

	settings->options = *options;
	eddy_app_keep_strings(app, keys, &settings->options);
	eddyi_cache_init(&settings->cache);
	eddy_app_at_free(app, deinit, settings);
	reason = eddyi_settings_apply(settings);
	if (reason)
		eddy_app_mistake(app, "can't compress: %s", reason);
	return settings;
}

/* ---- applying the options ---- */

static enum eddy_coding coding_of(const struct eddy_codec *codec)
{
	enum eddy_coding coding = EDDY_CODING_IDENTITY;

	while (strcmp(eddy_coding_name(coding), eddy_codec_name(codec)) != 0)
		coding++;
	return coding;
}

static unsigned level_of(const struct eddy_compression_options *options, enum eddy_coding coding)
{
	switch (coding) {
	case EDDY_CODING_ZSTD:
		return options->zstd_level;
	case EDDY_CODING_BR:
		return options->br_level;
	case EDDY_CODING_GZIP:
		return options->gzip_level;
	default:
		return options->deflate_level;
	}
}

static const char *add(struct eddyi_settings *settings, const struct eddy_codec *codec)
{
	size_t at = settings->count, used = strlen(settings->names);
	enum eddy_coding coding = coding_of(codec);

	for (size_t i = 0; i < at; i++)
		if (settings->order[i] == coding)
			return "order names a coding twice";
	settings->order[at] = coding;
	settings->codecs[at] = codec;
	settings->levels[at] = (int)level_of(&settings->options, coding);
	settings->count++;
	snprintf(settings->names + used, sizeof(settings->names) - used, "%s%s", used ? ", " : "",
		 eddy_codec_name(codec));
	return NULL;
}

static const char *add_named(struct eddyi_settings *settings, const char *name)
{
	const struct eddy_codec *codec;
	int r = eddy_codec_find(eddy_str_from(name), &codec);

	if (r == -ENOTSUP)
		return "order names a coding that is not compiled in";
	if (r < 0)
		return "order may only have zstd, br, gzip and deflate";
	return add(settings, codec);
}

static const char *check_levels(const struct eddy_compression_options *options)
{
	if (options->zstd_level > 19)
		return "zstd_level must be from 1 to 19";
	if (options->br_level > 11)
		return "br_level must be from 1 to 11";
	if (options->gzip_level > 9 || options->deflate_level > 9)
		return "gzip_level and deflate_level must be from 1 to 9";
	return NULL;
}

const char *eddyi_settings_apply(struct eddyi_settings *settings)
{
	const struct eddy_compression_options *options = &settings->options;
	const char *const *name = options->order;
	const struct eddy_codec *codec = NULL;
	const char *reason = check_levels(options);

	settings->count = 0;
	settings->names[0] = 0;
	settings->cache.size_max = options->cache_max ? options->cache_max : EDDYI_CACHE_MAX;
	if (options->no_cache)
		settings->cache.size_max = 0;
	while (!name && !reason && (codec = eddyi_codec_next(codec)))
		reason = add(settings, codec);
	for (; name && *name && !reason; name++)
		reason = add_named(settings, *name);
	if (!reason && !settings->count)
		reason = "order is empty";
	return reason;
}

void eddyi_settings_list(char *names, size_t size)
{
	const struct eddy_codec *codec = NULL;
	size_t used = 0;

	names[0] = 0;
	while ((codec = eddyi_codec_next(codec)) && used < size)
		used += (size_t)snprintf(names + used, size - used, "%s%s", used ? ", " : "",
					 eddy_codec_name(codec));
}

/* ---- public functions ---- */

void eddy_app_with_compression(struct eddy_app *app, const struct eddy_compression_options *options)
{
	struct eddyi_settings *settings = eddyi_settings_of(app);
	const char *reason;

	settings->options = options ? *options : (struct eddy_compression_options){ 0 };
	eddy_app_keep_strings(app, keys, &settings->options);
	reason = eddyi_settings_apply(settings);
	if (reason)
		eddy_app_mistake(app, "eddy_app_with_compression(): %s", reason);
}

void eddy_compress_config(struct eddy_app *app)
{
	eddyi_settings_of(app);
}
