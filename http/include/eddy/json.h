/* eddy/json.h: strict parsing of untrusted JSON, and JSON objects into structs. */
#ifndef EDDY_JSON_H
#define EDDY_JSON_H

#include <eddy/member.h>
#include <jansson.h>

EDDY_BEGIN_DECLS

/* Parse all of `text` as one JSON value (RFC 8259). Never suspends. A MiB takes 10 ms, so parse
 * large texts on the offload pool (worker threads for blocking calls; eddy/offload.h).
 *
 * Also rejected: nesting deeper than `depth_max`, duplicate members, a NUL in a string, and numbers
 * that overflow. Values beyond `values_max` are rejected before memory is allocated: three bytes of
 * text may take 250 of memory.
 * Return: 0 and a new reference; -EBADMSG; -EMSGSIZE for too many values; -ENOMEM. */
EDDY_API int eddy_json_parse(struct eddy_str text, unsigned depth_max, size_t values_max,
			     json_t **ret_json);

/* Read a JSON object into `*ret_target`. Strings are borrowed from `json`. A value of another JSON
 * type is an error; null stands for a missing optional member. Otherwise as eddy_pairs_into();
 * -EINVAL also if `json` is not an object, or if an entry of the table is .strict and `json` has a
 * member that the table does not name. */
#define eddy_json_into(json, members, ret_target, ret_why)                                         \
	eddyi_json_read((json), (members), sizeof(members) / sizeof(*(members)), (ret_target),     \
			(ret_why))
EDDY_API int eddyi_json_read(const json_t *json, const struct eddy_member *members, size_t count,
			     void *ret_target, char *ret_why);

EDDY_END_DECLS

#endif
