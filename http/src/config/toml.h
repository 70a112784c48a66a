/* toml.h: TOML as a tree. Its parser is toml++; this is all that the rest sees of it. */
#ifndef EDDYI_TOML_H
#define EDDYI_TOML_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddyi_arena;

enum eddyi_toml_type {
	EDDYI_TOML_TABLE,
	EDDYI_TOML_ARRAY,
	EDDYI_TOML_STRING,
	EDDYI_TOML_INTEGER,
	EDDYI_TOML_FLOAT,
	EDDYI_TOML_BOOL,
	EDDYI_TOML_TIME, /* a date, a time or both */
};

struct eddyi_toml {
	struct eddyi_toml *next;  /* in the same table, by key, or array */
	struct eddyi_toml *first; /* of a table or an array */
	struct eddy_str key;      /* of what is in a table; ends with a NUL, and may hold others */
	unsigned line;            /* of the key; where there is none, of the value */
	enum eddyi_toml_type type;
	struct eddy_str text; /* of a string, and of a time as RFC 3339 has it */
	int64_t integer;
	double real;
	bool flag;
};

struct eddyi_toml_error {
	unsigned line, column;
	char text[160];
};

/* How deep arrays and inline tables may stand in one another, and how many names a dotted key may have:
 * each is a level of recursion for toml++. */
#define EDDYI_TOML_DEPTH_MAX 16

/* Parse into `arena`, which owns the tree. Deep: runs on the loop's stack.
 * Return: 0; -EBADMSG, `*ret_error` says why; -ENOMEM. */
int eddyi_toml_parse(struct eddy_str text, struct eddyi_arena *arena, struct eddyi_toml **ret_root,
		     struct eddyi_toml_error *ret_error);

/* Look for what is deeper than EDDYI_TOML_DEPTH_MAX. Return: its line, 0 when there is none. */
unsigned eddyi_toml_deep_line(struct eddy_str text);

EDDY_END_DECLS

#endif
