/* eddy/config.h: settings from a file, over those of the program.
 *
 *     eddy_app_with_config(app, "app_config.toml");
 *
 * The file is TOML 1.0, of at most 1 MiB. It is read when the app runs: the order of the calls that
 * build the app does not matter, and what the file says replaces what they said. Whatever is wrong
 * with it fails the start, with a record for each mistake that names the file, the line and what was
 * expected. docs/config.md lists sections and keys.
 *
 * Where eddy-http was built with -Dconfig=disabled, a call of eddy_app_with_config() does not compile,
 * and eddy_app_config_section() does nothing.
 */
#ifndef EDDY_CONFIG_H
#define EDDY_CONFIG_H

#include <eddy/app.h>
#include <jansson.h>

EDDY_BEGIN_DECLS

/* Read settings from the file at `path`; NULL for no file, which is the default. A relative path
 * begins where the process is when the app runs. The string is copied. */
#ifndef EDDY_NO_CONFIG
EDDY_API void eddy_app_with_config(struct eddy_app *app, const char *path);
#else
__attribute__((error("eddy-http was built without configuration files (-Dconfig=disabled)"))) void
eddy_app_with_config(struct eddy_app *app, const char *path);
#endif

/* ---- for layers that own a section ----
 *
 *     static const struct eddy_config_key keys[] = {
 *             { "refresh_secs", EDDY_CONFIG_SECS, EDDY_CONFIG_AT(struct client, refresh_ns), .min = 1 },
 *             { "ca", EDDY_CONFIG_PATH, EDDY_CONFIG_AT(struct client, ca) },
 *             { 0 },
 *     };
 *     static const struct eddy_config_section section = { .name = "client", .keys = keys };
 *
 *     eddy_app_config_section(app, &section, &layer->client);
 */

/* What is expected of a key, and the member that it sets. */
enum eddy_config_type {
	EDDY_CONFIG_BOOL,    /* bool */
	EDDY_CONFIG_INTEGER, /* an unsigned integer of 32 or 64 bits */
	EDDY_CONFIG_MS, /* uint64_t nanoseconds, from an integer of milliseconds; 365 days at most */
	EDDY_CONFIG_SECS,    /* the same from seconds */
	EDDY_CONFIG_STRING,  /* const char *; without NUL bytes */
	EDDY_CONFIG_PATH,    /* const char *; relative paths begin at the folder of the file */
	EDDY_CONFIG_STRINGS, /* const char *const *, which NULL ends */
	EDDY_CONFIG_WORD,    /* int: the index of one of `words` */
	EDDY_CONFIG_MODE,    /* mode_t of a file, 1 to 0777, from a string of octal digits */
	EDDY_CONFIG_SHARE,   /* double, above 0 and up to 1 */
};

/* Strings that are set belong to the app. */
struct eddy_config_key {
	const char *name;
	enum eddy_config_type type;
	size_t offset, size; /* of the member: EDDY_CONFIG_AT() */
	uint64_t min, max; /* of a number as it is written, of a string's bytes; max 0: no limit */
	size_t max_offset; /* of an unsigned member that lowers `max` of a number; 0: none does */
	const char *const *words;      /* NULL ends them */
	uint64_t count_min, count_max; /* strings of an array; count_max 0: no limit */
	bool or_one;                   /* a string alone stands for an array of it */

	/* Whether a string is good; NULL: it is. What is expected then, for messages; NULL: as above. */
	bool (*accepts)(const char *string);
	const char *expected;
};

/* The place of a key's member, for `offset` and `size`. */
#define EDDY_CONFIG_AT(type, member)                                                               \
	.offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

/* Take a key that is not in the table. Both are borrowed; the value's reference count may be raised.
 * Times are strings, sections below this one are objects.
 * Return: 0, -ENOMEM, or any other -errno when the value is not accepted. */
typedef int eddy_config_extra_fn(void *target, const char *name, json_t *value);

/* Take note that the section was read without a mistake.
 * Return: NULL, or what is wrong with the keys together: a string that is never freed. */
typedef const char *eddy_config_done_fn(void *target);

struct eddy_config_section {
	const char *name;                   /* "server"; "oauth.client" */
	const struct eddy_config_key *keys; /* a name of NULL ends them */
	eddy_config_extra_fn *extra;        /* NULL: other keys are mistakes */
	eddy_config_done_fn *done; /* may be NULL; not called where the section is missing */
	/* Called before the file is read, which may be once more: forget what `extra` took. May be NULL. */
	void (*begin)(void *target);
};

/* Make a section known to the app: when it runs, the section's keys are set in `target`. The section
 * and the target are borrowed and outlive the app. Once more for the same name, the target is replaced. */
#ifndef EDDY_NO_CONFIG
EDDY_API void eddy_app_config_section(struct eddy_app *app,
				      const struct eddy_config_section *section, void *target);
#else
static inline void eddy_app_config_section(struct eddy_app *app,
					   const struct eddy_config_section *section, void *target)
{
	(void)app;
	(void)section;
	(void)target;
}
#endif

EDDY_END_DECLS

#endif
