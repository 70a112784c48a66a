/* settings.h: the command lines of the programs here, each a table of switches.
 *
 *	static const struct setting switches[] = {
 *		SETTING(struct limits, "tree", tree),
 *		SETTING(struct limits, "fallback", fallback),
 *		{ 0 },
 *	};
 *
 *	settings_take(argc, argv, switches, &limits, &limits.common);
 *
 * A switch that nobody knows, or a value that is of no use, ends the program with 2.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <eddy/http.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTING_TEXTS_MAX 70 /* an app has 64 addresses, and refuses more */

/* What may be said more than once; ends with NULL. */
struct setting_texts {
	const char *list[SETTING_TEXTS_MAX + 1];
	size_t count;
};

/* Put `value` into the field. Return: whether it is of use there. */
typedef bool setting_fn(const char *value, void *field);

setting_fn setting_flag; /* a bool; has no value */
setting_fn setting_text;
setting_fn setting_texts;
setting_fn setting_count;  /* an unsigned */
setting_fn setting_number; /* a uint64_t, or size_t */
setting_fn setting_ms;     /* milliseconds, to a uint64_t of nanoseconds */
setting_fn setting_octal;  /* a mode_t */
setting_fn setting_folder; /* opened, to an int */

struct setting {
	const char *name;
	setting_fn *take;
	size_t field; /* where it is in what settings_take() fills */
};

/* What takes a value as the field's type wants it. */
#define SETTING_FN(field)                                                                          \
	_Generic((field), \
		bool: setting_flag, \
		const char *: setting_text, \
		struct setting_texts: setting_texts, \
		unsigned: setting_count, \
		uint64_t: setting_number)

#define SETTING(type, name, member)                                                                \
	{                                                                                          \
		name, SETTING_FN(((type *)NULL)->member), offsetof(type, member)                   \
	}

/* What every server here takes: --bind ADDR (more than one; default: a free port of 127.0.0.1), --config FILE, and the
 * fields of eddy_server_options by their names, those in nanoseconds without `_ns` and in milliseconds. */
struct settings {
	struct setting_texts bind;
	const char *config;
	struct eddy_server_options server;
};

/* Fill `to` by the switches in `own`, and `common`, where it is not NULL, by those of every server. Return: the first
 * argument that is no switch. */
int settings_take(int argc, char **argv, const struct setting *own, void *to,
		  struct settings *common);

/* Tell the app what was taken; `common` is to outlive it. */
void settings_apply(const struct settings *common, struct eddy_app *app);

#endif
