/* object.h: the header and the claims of a token, read in one pass; a tree is built when somebody asks for one. */
#ifndef EDDYI_OBJECT_H
#define EDDYI_OBJECT_H

#include <eddy/str.h>
#include <jansson.h>
#include <stdatomic.h>

#define EDDYI_VALUES_MAX 64

enum eddyi_value_type {
	EDDYI_NOTHING, /* there is no such member */
	EDDYI_STRING,
	EDDYI_NUMBER,
	EDDYI_ARRAY,
	EDDYI_TRUE,
	EDDYI_OTHER,
};

/* A value's place in the text. The values that it contains follow it, up to `next`. */
struct eddyi_place_of_value {
	uint16_t name, name_len;
	uint16_t at, len; /* of a string without its quotes, and of a number */
	uint16_t next;
	uint8_t type;
};

/* 1. `count` is 0 when only the tree has the values; else the first of them is the object itself.
 * 2. `tree` is set once, by any thread, and then stays.
 * 3. `text` is borrowed, and outlives it. */
struct eddyi_object {
	unsigned count;
	_Atomic(json_t *) tree;
	struct eddy_str text;
	struct eddyi_place_of_value values[EDDYI_VALUES_MAX];
};

struct eddyi_value {
	enum eddyi_value_type type;
	struct eddy_str text; /* of a string; .ptr is NULL for all others */
	double number;
	const json_t *json;
	unsigned first, end; /* of an array that is not of the tree */
};

/* Read all of `text`, as eddyi_auth_json_parse() does. Return: 0; -EBADMSG, -ENOMEM. */
int eddyi_object_init(struct eddyi_object *object, struct eddy_str text);
void eddyi_object_deinit(struct eddyi_object *object);

/* Find a member. */
struct eddyi_value eddyi_object_get(const struct eddyi_object *object, const char *name);

/* Take the next one out of an array; there is none in other values. Return: false after the last. */
bool eddyi_object_next(const struct eddyi_object *object, struct eddyi_value *array,
		       struct eddyi_value *ret_value);

/* Get all of it as a tree. Any thread. Return: NULL on allocation failure. */
const json_t *eddyi_object_tree(struct eddyi_object *object);

#endif
