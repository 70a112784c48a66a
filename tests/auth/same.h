/* same.h: what the one pass reads is what jansson reads. Ends the process where it is not. */
#ifndef EDDY_TESTS_SAME_H
#define EDDY_TESTS_SAME_H

#include "jwt/json.h"
#include "jwt/object.h"

#include <stdlib.h>

/* `by_tree` has the same values by jansson's tree alone. */
static inline void expect_same_value(const struct eddyi_object *object, struct eddyi_value value,
				     const struct eddyi_object *by_tree, struct eddyi_value other)
{
	struct eddyi_value one, other_one;

	if (value.type != other.type || value.number != other.number ||
	    !value.text.ptr != !other.text.ptr || !eddy_str_eq(value.text, other.text))
		abort();
	while (eddyi_object_next(by_tree, &other, &other_one)) {
		if (!eddyi_object_next(object, &value, &one))
			abort();
		expect_same_value(object, one, by_tree, other_one);
	}
	if (eddyi_object_next(object, &value, &one))
		abort();
}

/* Return: whether it is read, and in one pass. */
static inline bool expect_same_object(struct eddy_str text)
{
	struct eddyi_object object, by_tree = { 0 };
	json_t *json = NULL, *value;
	int r = eddyi_auth_json_parse(text, &json);
	const char *name;
	bool is_quick;

	if (eddyi_object_init(&object, text) != r)
		abort();
	if (r < 0)
		return false;
	is_quick = object.count;
	by_tree.tree = json;
	json_object_foreach(json, name, value)
	{
		struct eddyi_value found = eddyi_object_get(&object, name);

		if (!found.type)
			abort();
		expect_same_value(&object, found, &by_tree, eddyi_object_get(&by_tree, name));
	}
	if (eddyi_object_get(&object, "no such member").type &&
	    !json_object_get(json, "no such member"))
		abort();
	if (!json_equal(eddyi_object_tree(&object), json))
		abort();
	eddyi_object_deinit(&object);
	json_decref(json);
	return is_quick;
}

#endif
