/* part.h: a form's part, for those who save it. */
#ifndef EDDYI_PART_H
#define EDDYI_PART_H

#include "incoming.h"

#include <eddy/part.h>

/* Hand out what comes next of the part, never empty; it is valid until the next call of any kind.
 * Suspends. Return: 1, 0 at the end of the part, -errno as eddy_part_read(). */
int eddyi_part_next(struct eddy_part *part, struct eddy_str *ret_data);

/* Append the rest of the part to a file. Suspends. Return: 0, -errno. */
int eddyi_part_receive(struct eddy_part *part, struct eddyi_incoming *incoming);

#endif
