/* eddy/json.h: JSON texts from outside, read with care, and JSON objects into structs. */
#ifndef EDDY_JSON_H
#define EDDY_JSON_H

#include <eddy/member.h>
#include <jansson.h>

EDDY_BEGIN_DECLS

/* Parse all of `text` as one JSON value (RFC 8259). Refused besides: nesting deeper than `depth_max`,
 * members of one name, a NUL in a string (C's string functions would cut it), a number that overflows; and more values
 * than `values_max`, which are counted before any is made: three bytes of text may take 250 of memory. Never suspends:
 * a MiB takes 10 ms, and belongs on the offload pool (offload.h).
 * Return: 0 and a new reference; -EBADMSG, -EMSGSIZE for too many values, -ENOMEM. */
EDDY_API int eddy_json_parse(struct eddy_str text, unsigned depth_max, size_t values_max,
			     json_t **ret_json);

/* Read the members of `*ret_target` from a JSON object; strings in it are borrowed from that. A member of
 * another type is no such value; for an optional one null is as good as nothing. Otherwise as
 * eddy_pairs_into(); -EINVAL also when `json` is no object, or has
 * a member that a .strict table does not name. */
#define eddy_json_into(json, members, ret_target, ret_why)                                         \
	eddy_json_read((json), (members), sizeof(members) / sizeof(*(members)), (ret_target),      \
		       (ret_why))
EDDY_API int eddy_json_read(const json_t *json, const struct eddy_member *members, size_t count,
			    void *ret_target, char *ret_why);

EDDY_END_DECLS

#endif
