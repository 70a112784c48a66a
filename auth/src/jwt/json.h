/* json.h: parsing of untrusted JSON (tokens, keys, metadata), also for eddy-auth. */
#ifndef EDDYI_AUTH_JSON_H
#define EDDYI_AUTH_JSON_H

#include <eddy/str.h>
#include <jansson.h>

/* The most levels of arrays and objects. */
#define EDDYI_JSON_DEPTH_MAX 16

/* Parse all of `text` as a JSON object: at most 16 levels and 16384 values, no duplicate members,
 * NUL in strings, lone surrogates or numbers that overflow. Return: 0 and a reference; -EBADMSG,
 * -ENOMEM. */
EDDY_API int eddyi_auth_json_parse(struct eddy_str text, json_t **ret_object);

/* Get a member that is a string; .ptr is NULL if it is missing or has another type. */
EDDY_API struct eddy_str eddyi_auth_json_str(const json_t *object, const char *name);

#endif
