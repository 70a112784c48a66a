#include "config.h"

#include "text/nearest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* The sections of eddy's layers, and the functions that register them. Only for messages: a section
 * is known when it is registered. */
static const struct {
	const char *name, *calls;
} hints[] = {
	{ "compression", "eddy_app_use_compression() or eddy_compress_config()" },
	{ "tracing", "eddy_app_use_tracing(), eddy_app_set_tracing() or eddy_trace_config()" },
	{ "tls", "eddy_app_use_tls() or eddy_tls_config()" },
	{ "bearer", "eddy_app_with_bearer_auth(), eddy_app_authorize() or eddy_auth_config()" },
	{ "oauth.client", "eddy_app_with_oauth(), eddy_app_use_oauth() or eddy_auth_config()" },
	{ "oauth.resource", "eddy_app_with_oauth_resource_metadata() or eddy_auth_config()" },
	{ "oauth.server", "eddy_app_with_oauth_server_metadata() or eddy_auth_config()" },
};

#define HINT_COUNT (sizeof(hints) / sizeof(hints[0]))

void eddy_app_config_section(struct eddy_app *app, const struct eddy_config_section *section,
			     void *target)
{
	struct eddyi_section **at = &app->sections;

	for (const struct eddy_config_key *key = section->keys; key->name; key++)
		if (!eddyi_config_key_fits(key))
			eddy_app_mistake(app,
					 "the key %s of [%s] does not fit the size of its field",
					 key->name, section->name);
	while (*at && strcmp((*at)->section->name, section->name) != 0)
		at = &(*at)->next;
	if (!*at) {
		*at = eddy_app_alloc(app, sizeof(**at));
		(*at)->next = NULL;
	}
	(*at)->section = section;
	(*at)->target = target;
}

/* ---- mistakes ---- */

/* Longer texts are truncated in messages. */
#define SHOWN_MAX 60
#define SHOWN(str) (int)((str).len < SHOWN_MAX ? (str).len : SHOWN_MAX), (str).ptr

EDDY_PRINTF(3, 4)
static void blame(struct eddyi_reading *reading, unsigned line, const char *format, ...)
{
	struct eddyi_blame *blame, **at = &reading->blames;
	char text[1024];
	va_list args;

	if (++reading->blame_count > EDDYI_BLAMES_MAX)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	blame = eddyi_arena_alloc(reading->scratch, sizeof(*blame));
	if (blame)
		blame->text = eddyi_arena_dup(reading->scratch, eddy_str_from(text));
	if (!blame || !blame->text.ptr) {
		reading->out_of_memory = true;
		return;
	}
	blame->line = line;
	/* Tables are sorted by name, not by line. */
	while (*at && (*at)->line <= line)
		at = &(*at)->next;
	blame->next = *at;
	*at = blame;
}

/* Describe a value of the file for a message. */
#define DESCRIBED_SIZE (SHOWN_MAX + 32)

static const char *describe(const struct eddyi_toml *value, char buf[DESCRIBED_SIZE])
{
	switch (value->type) {
	case EDDYI_TOML_TABLE:
		return "a table";
	case EDDYI_TOML_ARRAY:
		return value->first ? "an array" : "an empty array";
	case EDDYI_TOML_STRING:
		if (memchr(value->text.ptr, '\0', value->text.len))
			return "a string with a NUL byte";
		if (value->text.len > SHOWN_MAX)
			snprintf(buf, DESCRIBED_SIZE, "a string of %zu bytes", value->text.len);
		else
			snprintf(buf, DESCRIBED_SIZE, "the string \"%.*s\"", EDDY_FMT(value->text));
		break;
	case EDDYI_TOML_INTEGER:
		snprintf(buf, DESCRIBED_SIZE, "%jd", (intmax_t)value->integer);
		break;
	case EDDYI_TOML_FLOAT:
		snprintf(buf, DESCRIBED_SIZE, "the float %g", value->real);
		break;
	case EDDYI_TOML_BOOL:
		return value->flag ? "true" : "false";
	case EDDYI_TOML_TIME:
		snprintf(buf, DESCRIBED_SIZE, "the time %.*s", SHOWN(value->text));
		break;
	}
	return buf;
}

struct choices {
	struct eddyi_nearest nearest;
	char names[896];
};

static void choose(struct choices *choices, const char *name)
{
	size_t len = strlen(choices->names);

	eddyi_nearest_try(&choices->nearest, name);
	snprintf(choices->names + len, sizeof(choices->names) - len, "%s%s", len ? ", " : "", name);
}

static void blame_key(struct eddyi_reading *reading, const struct eddy_config_section *section,
		      const struct eddyi_toml *value)
{
	struct choices choices = { .nearest.wanted = value->key };

	for (const struct eddy_config_key *key = section->keys; key->name; key++)
		choose(&choices, key->name);
	if (choices.nearest.name)
		blame(reading, value->line, "[%s] unknown key \"%.*s\"; did you mean \"%s\"?",
		      section->name, SHOWN(value->key), choices.nearest.name);
	else
		blame(reading, value->line, "[%s] unknown key \"%.*s\"; expected one of: %s",
		      section->name, SHOWN(value->key), choices.names);
}

static void blame_section(struct eddyi_reading *reading, struct eddy_str name, unsigned line)
{
	struct choices choices = { .nearest.wanted = name };

	for (size_t i = 0; i < HINT_COUNT; i++) {
		if (eddy_str_eq_z(name, hints[i].name)) {
			blame(reading, line, "[%s] requires the program to call %s", hints[i].name,
			      hints[i].calls);
			return;
		}
	}
	for (const struct eddyi_section *at = reading->sections; at; at = at->next)
		choose(&choices, at->section->name);
	for (size_t i = 0; i < HINT_COUNT; i++)
		eddyi_nearest_try(&choices.nearest, hints[i].name);
	if (choices.nearest.name)
		blame(reading, line, "unknown section [%.*s]; did you mean [%s]?", SHOWN(name),
		      choices.nearest.name);
	else
		blame(reading, line, "unknown section [%.*s]; expected one of: %s", SHOWN(name),
		      choices.names);
}

/* ---- names ---- */

static const struct eddyi_section *find(const struct eddyi_reading *reading, struct eddy_str name)
{
	const struct eddyi_section *at = reading->sections;

	while (at && !eddy_str_eq_z(name, at->section->name))
		at = at->next;
	return at;
}

static bool begins(const char *name, struct eddy_str group)
{
	struct eddy_str str = eddy_str_from(name);

	return eddy_str_starts(str, group) && str.ptr[group.len] == '.';
}

/* Whether there are sections with names below this one. */
static bool is_group(const struct eddyi_reading *reading, struct eddy_str name)
{
	for (size_t i = 0; i < HINT_COUNT; i++)
		if (begins(hints[i].name, name))
			return true;
	for (const struct eddyi_section *at = reading->sections; at; at = at->next)
		if (begins(at->section->name, name))
			return true;
	return false;
}

/* Get the name of a section in a group. A dot in a quoted key does not separate. */
static struct eddy_str name_of(struct eddyi_reading *reading, struct eddy_str group,
			       struct eddy_str key)
{
	struct eddy_str name;

	if (memchr(key.ptr, '.', key.len) || memchr(key.ptr, '\0', key.len))
		name = eddyi_arena_printf(reading->scratch, "%.*s\"%.*s\"", EDDY_FMT(group),
					  SHOWN(key));
	else
		name = eddyi_arena_printf(reading->scratch, "%.*s%.*s", EDDY_FMT(group),
					  EDDY_FMT(key));
	if (!name.ptr)
		reading->out_of_memory = true;
	return name.ptr ? name : EDDY_STR("");
}

/* ---- reading ---- */

/* Find the section in the table of another: [a.b] in [a]. */
static const struct eddyi_section *find_within(struct eddyi_reading *reading,
					       const struct eddyi_section *known,
					       const struct eddyi_toml *value)
{
	struct eddy_str group;

	if (value->type != EDDYI_TOML_TABLE)
		return NULL;
	group = eddyi_arena_printf(reading->scratch, "%s.", known->section->name);
	return find(reading, name_of(reading, group, value->key));
}

static void read_section(struct eddyi_reading *reading, const struct eddyi_section *known,
			 const struct eddyi_toml *table);

static void read_extra(struct eddyi_reading *reading, const struct eddyi_section *known,
		       const struct eddyi_toml *value)
{
	json_t *json = NULL;
	int r = -EINVAL;

	if (!memchr(value->key.ptr, '\0', value->key.len))
		r = eddyi_toml_to_json(value, &json);
	if (r == 0)
		r = known->section->extra(known->target, value->key.ptr, json);
	json_decref(json);
	if (r == -ENOMEM)
		reading->out_of_memory = true;
	else if (r < 0)
		blame(reading, value->line, "[%s] %.*s: the program rejected this value",
		      known->section->name, SHOWN(value->key));
}

static void read_key(struct eddyi_reading *reading, const struct eddyi_section *known,
		     const struct eddyi_toml *value)
{
	char expected[EDDYI_EXPECTED_SIZE], found[DESCRIBED_SIZE];
	const struct eddy_config_key *key = known->section->keys;
	const struct eddyi_toml *bad;
	int r;

	while (key->name && !eddy_str_eq_z(value->key, key->name))
		key++;
	if (!key->name) {
		const struct eddyi_section *inner = find_within(reading, known, value);

		if (inner)
			read_section(reading, inner, value);
		else if (known->section->extra)
			read_extra(reading, known, value);
		else
			blame_key(reading, known->section, value);
		return;
	}
	r = eddyi_config_key_set(key, value, &reading->keep, known->target, &bad);
	if (r == -ENOMEM)
		reading->out_of_memory = true;
	else if (r < 0)
		blame(reading, bad->line, "[%s] %s: expected %s, not %s", known->section->name,
		      key->name, eddyi_config_key_expected(key, known->target, expected),
		      describe(bad, found));
}

static void read_section(struct eddyi_reading *reading, const struct eddyi_section *known,
			 const struct eddyi_toml *table)
{
	unsigned blames = reading->blame_count;
	const char *reason = NULL;

	for (const struct eddyi_toml *value = table->first; value; value = value->next)
		read_key(reading, known, value);
	if (reading->blame_count == blames && known->section->done)
		reason = known->section->done(known->target);
	if (reason)
		blame(reading, table->line, "[%s] %s", known->section->name, reason);
}

static bool is_plain(const struct eddyi_toml *value)
{
	if (value->type == EDDYI_TOML_ARRAY)
		return !value->first || value->first->type != EDDYI_TOML_TABLE;
	return value->type != EDDYI_TOML_TABLE;
}

/* `group` is the name of the table with a final dot; empty for the root. */
static void read_group(struct eddyi_reading *reading, const struct eddyi_toml *table,
		       struct eddy_str group)
{
	for (const struct eddyi_toml *child = table->first; child; child = child->next) {
		struct eddy_str name = name_of(reading, group, child->key);
		const struct eddyi_section *known = find(reading, name);
		char found[DESCRIBED_SIZE];

		if (child->type != EDDYI_TOML_TABLE && (known || is_group(reading, name)))
			blame(reading, child->line, "[%.*s]: expected a section, not %s",
			      EDDY_FMT(name), describe(child, found));
		else if (is_plain(child))
			blame(reading, child->line, "%.*s is outside any section", SHOWN(name));
		else if (known)
			read_section(reading, known, child);
		else if (is_group(reading, name))
			read_group(reading, child,
				   eddyi_arena_printf(reading->scratch, "%.*s.", EDDY_FMT(name)));
		else
			blame_section(reading, name, child->line);
	}
}

void eddyi_sections_read(struct eddyi_reading *reading, const struct eddyi_toml *root)
{
	for (const struct eddyi_section *at = reading->sections; at; at = at->next)
		if (at->section->begin)
			at->section->begin(at->target);
	read_group(reading, root, EDDY_STR(""));
}
