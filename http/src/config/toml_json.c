#include "toml.h"

#include <errno.h>
#include <math.h>

static int put_children(const struct eddyi_toml *value, json_t *to)
{
	for (const struct eddyi_toml *child = value->first; child; child = child->next) {
		json_t *json;
		int r;

		if (child->key.ptr && memchr(child->key.ptr, '\0', child->key.len))
			return -EINVAL;
		r = eddyi_toml_to_json(child, &json);
		if (r < 0)
			return r;
		r = child->key.ptr ? json_object_set_new_nocheck(to, child->key.ptr, json) :
				     json_array_append_new(to, json);
		if (r < 0)
			return -ENOMEM;
	}
	return 0;
}

int eddyi_toml_to_json(const struct eddyi_toml *value, json_t **ret_json)
{
	json_t *json = NULL;
	int r;

	switch (value->type) {
	case EDDYI_TOML_TABLE:
	case EDDYI_TOML_ARRAY:
		json = value->type == EDDYI_TOML_TABLE ? json_object() : json_array();
		r = json ? put_children(value, json) : -ENOMEM;
		if (r < 0) {
			json_decref(json);
			return r;
		}
		break;
	case EDDYI_TOML_STRING:
	case EDDYI_TOML_TIME:
		json = json_stringn_nocheck(value->text.ptr, value->text.len);
		break;
	case EDDYI_TOML_INTEGER:
		json = json_integer(value->integer);
		break;
	case EDDYI_TOML_FLOAT:
		if (!isfinite(value->real))
			return -EINVAL;
		json = json_real(value->real);
		break;
	case EDDYI_TOML_BOOL:
		json = json_boolean(value->flag);
		break;
	}
	if (!json)
		return -ENOMEM;
	*ret_json = json;
	return 0;
}
