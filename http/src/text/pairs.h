/* pairs.h: parses a query or an application/x-www-form-urlencoded body. */
#ifndef EDDYI_PAIRS_H
#define EDDYI_PAIRS_H

#include "arena.h"

#include <eddy/pairs.h>

/* Limit of pairs: each takes ten times its size on the wire. */
#define EDDYI_PAIRS_MAX 4096

/* Decode all pairs, to the arena or within `text`. Return: 0, -EMSGSIZE, -ENOMEM. */
int eddyi_pairs_parse(struct eddyi_arena *arena, struct eddy_str text,
		      struct eddy_pairs *ret_pairs);

/* Get the value of the first pair of this name. Return: 0, -ENOENT. */
int eddyi_pairs_find(const struct eddy_pairs *pairs, const char *name, struct eddy_str *ret_value);

#endif
