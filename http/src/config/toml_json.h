/* toml_json.h: converts TOML values to JSON. Times become strings. */
#ifndef EDDYI_TOML_JSON_H
#define EDDYI_TOML_JSON_H

#include "toml.h"

#include <jansson.h>

/* Return: 0, and the caller owns `*ret_json`; -EINVAL for infinity, NaN, and NUL in names;
 * -ENOMEM. */
int eddyi_toml_to_json(const struct eddyi_toml *value, json_t **ret_json);

#endif
