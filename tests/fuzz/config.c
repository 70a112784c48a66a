/* Fuzzes http/src/config/config.h: a whole configuration file, read by sections of every type. */
#include "config/config.h"

#include "config/toml.h"

#include <stdlib.h>

struct target {
	bool flag;
	unsigned count;
	uint64_t age_ns;
	const char *name, *path;
	const char *const *names;
	int mode;
	mode_t bits;
};

static const char *const modes[] = { "slow", "fast", NULL };

static const struct eddy_config_key keys[] = {
	{ "flag", EDDY_CONFIG_BOOL, EDDY_CONFIG_AT(struct target, flag) },
	{ "count", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct target, count), .min = 1, .max = 9 },
	{ "age", EDDY_CONFIG_SECS, EDDY_CONFIG_AT(struct target, age_ns) },
	{ "name", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct target, name), .min = 1, .max = 9 },
	{ "path", EDDY_CONFIG_PATH, EDDY_CONFIG_AT(struct target, path) },
	{ "names", EDDY_CONFIG_STRINGS, EDDY_CONFIG_AT(struct target, names), .min = 1,
	  .count_max = 3, .or_one = true },
	{ "bits", EDDY_CONFIG_MODE, EDDY_CONFIG_AT(struct target, bits) },
	{ "mode", EDDY_CONFIG_WORD, EDDY_CONFIG_AT(struct target, mode), .words = modes },
	{ 0 },
};

static int take_extra(void *target, const char *name, json_t *value)
{
	char *json = json_dumps(value, JSON_ENCODE_ANY);

	(void)target;
	(void)name;
	if (!json)
		abort();
	free(json);
	return 0;
}

static const struct eddy_config_section plain = { .name = "a", .keys = keys };
static const struct eddy_config_section extra = { .name = "a.b",
						  .keys = keys,
						  .extra = take_extra };

static unsigned depth_of(const struct eddyi_toml *node)
{
	unsigned most = 0;

	for (const struct eddyi_toml *child = node->first; child; child = child->next) {
		unsigned depth = depth_of(child);

		most = depth > most ? depth : most;
	}
	return most + 1;
}

/* Each level of nesting may have a dotted key. */
static void check_depth(struct eddy_str text)
{
	struct eddyi_arena arena = { 0 };
	struct eddyi_toml_error error;
	struct eddyi_toml *root;

	if (eddyi_toml_parse(text, &arena, &root, &error) == 0 &&
	    depth_of(root) > EDDYI_TOML_DEPTH_MAX * (EDDYI_TOML_DEPTH_MAX + 2))
		abort();
	eddyi_arena_deinit(&arena);
}

/* Whatever was set is within its bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_app *app = eddy_app_new();
	struct target target = { .count = 1, .bits = 1, .names = (const char *const[]){ NULL } };
	struct target inner = target;

	eddy_app_config_section(app, &plain, &target);
	eddy_app_config_section(app, &extra, &inner);
	eddy_app_with_config(app, "etc/a.toml");
	eddyi_config_read_text(app, eddy_str((const char *)data, size));
	check_depth(eddy_str((const char *)data, size));
	if (!target.bits || target.bits > 0777 || !app->address_count ||
	    app->address_count > EDDYI_ADDRESSES_MAX)
		abort();
	if (!target.count || target.count > 9 || target.mode < 0 || target.mode > 1)
		abort();
	if (target.name && (!target.name[0] || strlen(target.name) > 9))
		abort();
	for (size_t i = 0; target.names[i]; i++)
		if (i == 3 || !*target.names[i])
			abort();
	if (target.path && target.path[0] != '/' && strncmp(target.path, "etc/", 4) != 0 &&
	    target.path[0])
		abort();
	if (!app->options.workers || app->options.workers > EDDYI_WORKERS_MAX ||
	    !app->head_limits.request_line_max)
		abort();
	eddy_app_free(app);
	return 0;
}
