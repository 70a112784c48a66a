/* toml.h: TOML as a tree. Hides the parser, toml++. */
#ifndef EDDYI_TOML_H
#define EDDYI_TOML_H

#include <eddy/str.h>
#include <jansson.h>

EDDY_BEGIN_DECLS

struct eddyi_arena;

enum eddyi_toml_type {
	EDDYI_TOML_TABLE,
	EDDYI_TOML_ARRAY,
	EDDYI_TOML_STRING,
	EDDYI_TOML_INTEGER,
	EDDYI_TOML_FLOAT,
	EDDYI_TOML_BOOL,
	EDDYI_TOML_TIME, /* a date, a time, or both */
};

struct eddyi_toml {
	struct eddyi_toml *next; /* in the same table, by key, or array */
	struct eddyi_toml *first;
	struct eddy_str key; /* in a table; ends with a NUL, and may contain others */
	unsigned line;       /* of the key; without one, of the value */
	enum eddyi_toml_type type;
	struct eddy_str text; /* a string; a time in RFC 3339 format */
	int64_t integer;
	double real;
	bool flag;
};

struct eddyi_toml_error {
	unsigned line, column;
	char text[160];
};

/* Limit of nesting and of names in a dotted key, for each of which toml++ recurses. */
#define EDDYI_TOML_DEPTH_MAX 16

/* Parse into `arena`, which owns the tree. Needs a deep stack: call it on the loop's stack.
 * Return: 0; -EBADMSG, and `*ret_error` says why; -ENOMEM. */
int eddyi_toml_parse(struct eddy_str text, struct eddyi_arena *arena, struct eddyi_toml **ret_root,
		     struct eddyi_toml_error *ret_error);

/* Find nesting deeper than EDDYI_TOML_DEPTH_MAX. Return: its line; 0 if there is none. */
unsigned eddyi_toml_deep_line(struct eddy_str text);

/* Convert a value to JSON. Times become strings.
 * Return: 0, and the caller owns `*ret_json`; -EINVAL for infinity, NaN, and NUL in names;
 * -ENOMEM. */
int eddyi_toml_to_json(const struct eddyi_toml *value, json_t **ret_json);

EDDY_END_DECLS

#endif
