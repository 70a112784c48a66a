/* next.h: runs a request through the filters to its handler. */
#ifndef EDDYI_NEXT_H
#define EDDYI_NEXT_H

#include "app/filter.h"

/* Run the handler inside all filters. Suspends. Return: as eddy_next(). */
int eddyi_filters_run(const struct eddyi_filters *innermost, eddy_handler_fn *handler,
		      struct eddy_req *req, struct eddy_res *res);

#endif
