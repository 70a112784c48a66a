/* part.h: saving a part of a form. */
#ifndef EDDYI_PART_H
#define EDDYI_PART_H

#include "incoming.h"

#include <eddy/part.h>

/* Append the rest of the part to a file. Suspends. Return: 0, -errno. */
int eddyi_part_receive(struct eddy_part *part, struct eddyi_incoming *incoming);

#endif
