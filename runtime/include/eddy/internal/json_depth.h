/* eddy/json_depth.h: how deep and how large a JSON text is, to check before it is parsed. */
#ifndef EDDY_JSON_DEPTH_H
#define EDDY_JSON_DEPTH_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* Count how deep arrays and objects are nested in a JSON text. Never suspends. `*ret_values`,
 * which may be NULL, is the number of values: arrays, objects and everything in them, without
 * member names. Check both before a parser recurses and allocates: also for invalid JSON, neither
 * is below what a parser that stops at the first error builds. Return: the depth; 0 without
 * arrays and objects. */
EDDY_API unsigned eddyi_json_depth(struct eddy_str text, size_t *ret_values);

EDDY_END_DECLS

#endif
