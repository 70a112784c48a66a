/* pairs.h: a query or an application/x-www-form-urlencoded body, taken apart. */
#ifndef EDDYI_PAIRS_H
#define EDDYI_PAIRS_H

#include "arena.h"

#include <eddy/pairs.h>

/* Most pairs of a query or a form: each costs ten times what it is on the wire. */
#define EDDYI_PAIRS_MAX 4096

/* Decode all pairs (see eddyi_path_next_pair()); they lie in the arena or in `text`.
 * Return: 0, -EMSGSIZE for too many, -ENOMEM. */
int eddyi_pairs_parse(struct eddyi_arena *arena, struct eddy_str text,
		      struct eddy_pairs *ret_pairs);

/* The value of the first pair of this name. Return: 0, -ENOENT. */
int eddyi_pairs_find(const struct eddy_pairs *pairs, const char *name, struct eddy_str *ret_value);

#endif
