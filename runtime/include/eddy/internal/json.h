/* eddy/internal/json.h: writes JSON piece by piece, and measures JSON before it is parsed; for
 * eddy's own layers.
 *
 *     struct eddyi_text json = { .at = buffer, .end = buffer + size };
 *
 *     eddyi_json_begin(&json, "{");
 *     eddyi_json_name(&json, "id");
 *     eddyi_json_u64(&json, 7);
 *     eddyi_json_open(&json, "tags", "[");
 *     eddyi_json_str(&json, EDDY_STR("new"));
 *     eddyi_json_end(&json, ']');
 *     eddyi_json_last(&json, '}');
 *
 * A value is written with a comma after it, which the end of the array or object removes. So no
 * piece depends on those before it, and a member is taken back by setting `at` to where it began.
 */
#ifndef EDDY_INTERNAL_JSON_H
#define EDDY_INTERNAL_JSON_H

#include <eddy/internal/text.h>

EDDY_BEGIN_DECLS

/* ---- writing ---- */

/* Begin an array or object; `bracket` is a literal. */
#define eddyi_json_begin(json, bracket) eddyi_text((json), "" bracket)

/* Write the name of a member, a literal that needs no escapes. Its value follows. */
#define eddyi_json_name(json, name) eddyi_text((json), "\"" name "\":")

/* Write the name of a member, and begin its array or object. */
#define eddyi_json_open(json, name, bracket) eddyi_text((json), "\"" name "\":" bracket)

/* Write a member whose value is a string that needs no escapes. */
#define eddyi_json_plain(json, name, z)                                                            \
	(eddyi_text((json), "\"" name "\":\""), eddyi_text((json), (z)), eddyi_text((json), "\","))

/* Write a string; invalid UTF-8 becomes U+FFFD. A byte takes six at most. If the string does not
 * fit, it is cut, ends with "…", and `full` is set; with no room for that nothing is written. */
EDDY_API void eddyi_json_str(struct eddyi_text *json, struct eddy_str str);

/* Write the name of a member. */
static inline void eddyi_json_name_str(struct eddyi_text *json, struct eddy_str name)
{
	eddyi_json_str(json, name);
	if (!json->full)
		json->at[-1] = ':';
}

EDDY_API void eddyi_json_u64(struct eddyi_text *json, uint64_t value);
EDDY_API void eddyi_json_i64(struct eddyi_text *json, int64_t value);

/* Write a number as a string, for readers that parse numbers as doubles. */
EDDY_API void eddyi_json_u64_str(struct eddyi_text *json, uint64_t value);
EDDY_API void eddyi_json_i64_str(struct eddyi_text *json, int64_t value);

/* Write a double; null if it is none of JSON's: infinite or NaN. */
EDDY_API void eddyi_json_f64(struct eddyi_text *json, double value);

static inline void eddyi_json_bool(struct eddyi_text *json, bool value)
{
	eddyi_text(json, value ? "true," : "false,");
}

/* Write bytes, at most 32, as a string of two hexadecimal digits each. */
EDDY_API void eddyi_json_hex(struct eddyi_text *json, const void *bytes, size_t len);

/* End the outermost array or object. */
EDDY_API void eddyi_json_last(struct eddyi_text *json, char bracket);

/* End any other array or object. */
EDDY_API void eddyi_json_end(struct eddyi_text *json, char bracket);

/* ---- before parsing ---- */

/* Count how deep arrays and objects are nested in a JSON text. Never suspends. `*ret_values`,
 * which may be NULL, is the number of values: arrays, objects and everything in them, without
 * member names. Check both before a parser recurses and allocates: also for invalid JSON, neither
 * is below what a parser that stops at the first error builds. Return: the depth; 0 without
 * arrays and objects. */
EDDY_API unsigned eddyi_json_depth(struct eddy_str text, size_t *ret_values);

EDDY_END_DECLS

#endif
