#include "settings.h"

#include <eddy/runtime.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define SETTINGS_MAX 64

bool setting_flag(const char *value, void *field)
{
	(void)value;
	*(bool *)field = true;
	return true;
}

bool setting_text(const char *value, void *field)
{
	*(const char **)field = value;
	return true;
}

bool setting_texts(const char *value, void *field)
{
	struct setting_texts *texts = field;

	if (texts->count == SETTING_TEXTS_MAX)
		return false;
	texts->list[texts->count++] = value;
	return true;
}

bool setting_number(const char *value, void *field)
{
	return eddy_str_to_u64(eddy_str_from(value), field) == 0;
}

bool setting_count(const char *value, void *field)
{
	uint64_t number;

	if (!setting_number(value, &number) || number > UINT_MAX)
		return false;
	*(unsigned *)field = (unsigned)number;
	return true;
}

bool setting_ms(const char *value, void *field)
{
	uint64_t ms;

	if (!setting_number(value, &ms) || ms > UINT64_MAX / EDDY_MS)
		return false;
	*(uint64_t *)field = ms * EDDY_MS;
	return true;
}

bool setting_octal(const char *value, void *field)
{
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	*(mode_t *)field = (mode_t)mode;
	return end > value && !*end && mode <= 07777;
}

bool setting_folder(const char *value, void *field)
{
	int fd = open(value, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*(int *)field = fd;
	return fd >= 0;
}

#define COMMON(name) SETTING(struct settings, #name, server.name)
#define COMMON_MS(name)                                                                            \
	{                                                                                          \
#name, setting_ms, offsetof(struct settings, server.name##_ns)                     \
	}

static const struct setting all_common[] = {
	SETTING(struct settings, "bind", bind),
	SETTING(struct settings, "config", config),
	COMMON(workers),
	COMMON(request_line_max),
	COMMON(header_block_max),
	COMMON(header_count_max),
	COMMON(body_max),
	COMMON(json_values_max),
	COMMON(body_memory_max),
	COMMON(file_max),
	COMMON(parts_max),
	COMMON(part_header_max),
	COMMON(field_max),
	COMMON(connections_max),
	COMMON(connections_per_address_max),
	COMMON(body_rate_min),
	COMMON(write_rate_min),
	COMMON_MS(rate_grace),
	COMMON(open_files_max),
	COMMON(io_workers_max),
	COMMON_MS(open_files_valid),
	COMMON_MS(head_timeout),
	COMMON_MS(body_timeout),
	COMMON_MS(write_timeout),
	COMMON_MS(idle_timeout),
	COMMON_MS(drain_timeout),
	COMMON_MS(lame_duck),
	COMMON(forwarded_host),
	COMMON(proxy_header_max),
	{ "unix_mode", setting_octal, offsetof(struct settings, server.unix_mode) },
	COMMON(restart),
	{ 0 },
};

/* A row, and what its field is in. */
struct target {
	const struct setting *setting;
	char *to;
};

static size_t add_targets(struct target *targets, size_t count, const struct setting *settings,
			  void *to)
{
	for (; settings->name; settings++) {
		assert(count < SETTINGS_MAX);
		targets[count++] = (struct target){ settings, to };
	}
	return count;
}

static void take(const struct target *target)
{
	const struct setting *setting = target->setting;

	if (setting->take(optarg, target->to + setting->field))
		return;
	fprintf(stderr, "%s: --%s can't be \"%s\"\n", program_invocation_short_name, setting->name,
		optarg);
	exit(2);
}

int settings_take(int argc, char **argv, const struct setting *own, void *to,
		  struct settings *common)
{
	struct target targets[SETTINGS_MAX];
	struct option options[SETTINGS_MAX + 1] = { 0 };
	size_t count = add_targets(targets, 0, own, to);
	int found, which;

	if (common)
		count = add_targets(targets, count, all_common, common);
	for (size_t i = 0; i < count; i++) {
		options[i].name = targets[i].setting->name;
		options[i].has_arg = targets[i].setting->take != setting_flag;
	}
	while ((found = getopt_long(argc, argv, "", options, &which)) >= 0) {
		if (found != 0)
			exit(2);
		take(&targets[which]);
	}
	return optind;
}

void settings_apply(const struct settings *common, struct eddy_app *app)
{
	eddy_app_bind(app, common->bind.count > 0 ? common->bind.list[0] : "127.0.0.1:0");
	for (size_t i = 1; i < common->bind.count; i++)
		eddy_app_add_bind(app, common->bind.list[i], NULL);
	eddy_app_with_server(app, &common->server);
	if (!common->config)
		return;
#ifdef EDDY_NO_CONFIG
	fprintf(stderr, "%s: this eddy was built without --config\n",
		program_invocation_short_name);
	exit(2);
#else
	eddy_app_with_config(app, common->config);
#endif
}
