/* reals.h: shortens the real numbers of a JSON text.
 *
 * Older jansson writes 0.1 as 0.10000000000000001: seventeen digits distinguish any two doubles,
 * but most need only fifteen. Newer jansson does this itself, and its texts stay unchanged. */
#ifndef EDDYI_REALS_H
#define EDDYI_REALS_H

#include <stddef.h>

/* Shorten reals in place; each still reads as the same double. Return: the new length. */
size_t eddyi_reals_shorten(char *text, size_t len);

#endif
