/* eddy/json_depth.h: how deep a JSON text goes and how many values it has, known before a parser that recurses and
 * allocates is given it. */
#ifndef EDDY_JSON_DEPTH_H
#define EDDY_JSON_DEPTH_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* Count how deep arrays and objects stand in one another: 0 without any. `*ret_values`, which may be NULL, is the
 * number of values: arrays, objects and whatever they hold; names of members are none. Of a text that is no JSON,
 * neither is less than what a parser makes that stops at the first mistake. Never suspends. */
EDDY_API unsigned eddy_json_depth(struct eddy_str text, size_t *ret_values);

EDDY_END_DECLS

#endif
