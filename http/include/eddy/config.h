/* eddy/config.h: settings from a configuration file, which override those of the program.
 *
 *     eddy_app_with_config(app, "app_config.toml");
 *
 * The file is TOML 1.0, at most 1 MiB, and is read when the app runs, whatever the order of the
 * calls that build the app. If it has mistakes, startup fails, and a log record for each names the
 * file, the line and the expected value. docs/config.md lists sections and keys.
 *
 * If eddy-http was built with -Dconfig=disabled, calling eddy_app_with_config() is a compile error,
 * and eddy_app_config_section() does nothing.
 */
#ifndef EDDY_CONFIG_H
#define EDDY_CONFIG_H

#include <eddy/app.h>
#include <jansson.h>

EDDY_BEGIN_DECLS

/* Read settings from the file at `path`; NULL for no file, the default. A relative path is resolved
 * in the working directory when the app runs. Copied. */
#ifndef EDDY_NO_CONFIG
EDDY_API void eddy_app_with_config(struct eddy_app *app, const char *path);
#else
__attribute__((error("eddy-http was built without configuration files (-Dconfig=disabled)"))) void
eddy_app_with_config(struct eddy_app *app, const char *path);
#endif

/* ---- for layers with a section of their own ----
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

/* The type of a key's value, and of the member that it sets. */
enum eddy_config_type {
	EDDY_CONFIG_BOOL,    /* bool */
	EDDY_CONFIG_INTEGER, /* unsigned integer of 32 or 64 bits */
	EDDY_CONFIG_MS,      /* uint64_t nanoseconds, from integer milliseconds; at most 365 days */
	EDDY_CONFIG_SECS,    /* uint64_t nanoseconds, from integer seconds; at most 365 days */
	EDDY_CONFIG_STRING,  /* const char *, without NUL bytes */
	EDDY_CONFIG_PATH,    /* const char *; a relative path is resolved in the file's folder */
	EDDY_CONFIG_STRINGS, /* const char *const *, ended by NULL */
	EDDY_CONFIG_WORD,    /* int: the index of one of `words` */
	EDDY_CONFIG_MODE,    /* mode_t of a file, 1 to 0777, from a string of octal digits */
	EDDY_CONFIG_SHARE,   /* double, above 0 and at most 1 */
};

/* A key of a section: its type, member and limits. Strings that it sets belong to the app. */
struct eddy_config_key {
	const char *name;
	enum eddy_config_type type;
	size_t offset, size; /* of the member: EDDY_CONFIG_AT() */
	uint64_t min, max;   /* of the number as written, or of a string's bytes; max 0: no limit */
	size_t max_offset; /* offset of an unsigned member that further limits a number; 0: none */
	const char *const *words;      /* ended by NULL */
	uint64_t count_min, count_max; /* of an array's strings; count_max 0: no limit */
	bool or_one;                   /* a single string is accepted as an array of one */

	/* Validate a string; NULL accepts all. `expected` then says in messages what is accepted;
	 * NULL: a text made from the type. */
	bool (*accepts)(const char *string);
	const char *expected;
};

/* Fill in `offset` and `size` for the member that a key sets. */
#define EDDY_CONFIG_AT(type, member)                                                               \
	.offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

/* Accept a key that is not in the table. `name` and `value` are borrowed; the reference count may
 * be raised. TOML times are strings, subsections are objects.
 * Return: 0, -ENOMEM, or another -errno to reject the value. */
typedef int eddy_config_extra_fn(void *target, const char *name, json_t *value);

/* Called after the section was read without mistakes, to validate its keys together. Must not
 * suspend, and as `accepts`, `extra` and `begin` not need a loop: eddy_app_run_blocking() reads the
 * file before it makes one.
 * Return: NULL, or what is wrong: a string that is never freed. */
typedef const char *eddy_config_done_fn(void *target);

struct eddy_config_section {
	const char *name;                   /* "server" or "oauth.client" */
	const struct eddy_config_key *keys; /* ended by a NULL name */
	eddy_config_extra_fn *extra;        /* NULL: unknown keys are mistakes */
	eddy_config_done_fn *done;          /* may be NULL; not called if the section is missing */
	/* Discard what `extra` took; called before each time the file is read. May be NULL. */
	void (*begin)(void *target);
};

/* Register a section: when the app runs, its keys are set in `target`. Both are borrowed and must
 * outlive the app. Registering the same name again replaces the target. */
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
