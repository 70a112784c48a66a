/* eddy/header.h: a header field, as a program writes it.
 *
 *     .headers = (const struct eddy_header[]){ { "accept", "application/json" }, { 0 } },
 */
#ifndef EDDY_HEADER_H
#define EDDY_HEADER_H

#include <eddy/base.h>

/* A header field. A name of NULL ends a list. */
struct eddy_header {
	const char *name;
	const char *value;
};

#endif
