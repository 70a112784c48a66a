/* eddy/header.h: a field of a request, as a program writes it.
 *
 *     .headers = (const struct eddy_header[]){ { "accept", "application/json" }, { 0 } },
 */
#ifndef EDDY_HEADER_H
#define EDDY_HEADER_H

#include <eddy/base.h>

/* In a list, one whose name is NULL stands behind the last. */
struct eddy_header {
	const char *name;
	const char *value;
};

#endif
