/* object.h: header and claims of a token, parsed in one pass; a JSON tree is built on demand. */
#ifndef EDDYI_OBJECT_H
#define EDDYI_OBJECT_H

#include <eddy/str.h>
#include <jansson.h>
#include <stdatomic.h>

#define EDDYI_VALUES_MAX 64

enum eddyi_value_type {
	EDDYI_NOTHING, /* no such member */
	EDDYI_STRING,
	EDDYI_NUMBER,
	EDDYI_ARRAY,
	EDDYI_TRUE,
	EDDYI_OTHER,
};

/* A value's position in the text. The values that it contains follow it, up to `next`. */
struct eddyi_place_of_value {
	uint16_t name, name_len;
	uint16_t at, len; /* a string without its quotes, or a number */
	uint16_t next;
	uint8_t type;
};

/* Invariants:
 * 1. `count` is 0 if only the tree has the values; else the first value is the object itself.
 * 2. `tree` is set once, by any thread.
 * 3. `text` is borrowed and outlives the object. */
struct eddyi_object {
	unsigned count;
	_Atomic(json_t *) tree;
	struct eddy_str text;
	struct eddyi_place_of_value values[EDDYI_VALUES_MAX];
};

struct eddyi_value {
	enum eddyi_value_type type;
	struct eddy_str text; /* a string's; .ptr is NULL for other types */
	double number;
	const json_t *json;
	unsigned first, end; /* an array's, if it is not from the tree */
};

/* Parse all of `text`, as eddyi_auth_json_parse() does. Return: 0; -EBADMSG, -ENOMEM. */
int eddyi_object_init(struct eddyi_object *object, struct eddy_str text);
void eddyi_object_deinit(struct eddyi_object *object);

struct eddyi_value eddyi_object_get(const struct eddyi_object *object, const char *name);

/* Take the next element of an array; other values have none. Return: false after the last. */
bool eddyi_object_next(const struct eddyi_object *object, struct eddyi_value *array,
		       struct eddyi_value *ret_value);

/* Get the whole object as a tree. Any thread may call it. Return: NULL on allocation failure. */
const json_t *eddyi_object_tree(struct eddyi_object *object);

#endif
