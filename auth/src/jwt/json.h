/* json.h: JSON of tokens, keys and issuers, from strangers. eddy-jwt has it for eddy-auth as well. */
#ifndef EDDYI_AUTH_JSON_H
#define EDDYI_AUTH_JSON_H

#include <eddy/str.h>
#include <jansson.h>

/* How deep arrays and objects go, at most. */
#define EDDYI_JSON_DEPTH_MAX 16

/* Parse all of `text` as a JSON object, with care: no deeper than 16, no more than 16384 values, no two members of one name, no NUL in a
 * string, no lone surrogate, no number that overflows. Return: 0 and a new reference; -EBADMSG, -ENOMEM. */
EDDY_API int eddyi_auth_json_parse(struct eddy_str text, json_t **ret_object);

/* A member that is a string; .ptr is NULL when it is not there, or something else. */
EDDY_API struct eddy_str eddyi_auth_json_str(const json_t *object, const char *name);

#endif
