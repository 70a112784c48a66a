/* json.h: parses JSON, explains to its sender what is wrong with it, and shortens its numbers. */
#ifndef EDDYI_JSON_H
#define EDDYI_JSON_H

#include <eddy/json.h>

#define EDDYI_JSON_WHY_SIZE 128

/* As eddy_json_parse(). For -EBADMSG, `ret_why` gets the reason and its place, in ASCII and without
 * quotes from the text: "line 1, column 8: string or '}' expected". */
int eddyi_json_parse(struct eddy_str text, unsigned depth_max, size_t values_max, json_t **ret_json,
		     char ret_why[EDDYI_JSON_WHY_SIZE]);

/* Shorten the real numbers of a JSON text in place; each still reads as the same double. Older
 * jansson writes 0.1 as 0.10000000000000001: seventeen digits distinguish any two doubles, but most
 * need only fifteen. Newer jansson does this itself. Return: the new length. */
size_t eddyi_reals_shorten(char *text, size_t len);

#endif
