/* reals.h: the real numbers of a JSON text, with as few digits as they need.
 *
 * Older jansson writes 0.1 as 0.10000000000000001: seventeen digits tell any two doubles apart, but most
 * take fifteen. Texts of a jansson that sees to this itself stay as they are.
 */
#ifndef EDDYI_REALS_H
#define EDDYI_REALS_H

#include <stddef.h>

/* Shorten the reals of a JSON text in place; each reads back as the same double. Return: its new length. */
size_t eddyi_reals_shorten(char *text, size_t len);

#endif
