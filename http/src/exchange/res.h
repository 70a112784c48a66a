/* res.h: responses, as this layer sets them. */
#ifndef EDDYI_RES_H
#define EDDYI_RES_H

#include "exchange_state.h"

/* Copy the fields from number `from` on, for other responses. Where memory is out there are none. */
void eddyi_res_fields_keep(const struct eddy_res *res, unsigned from,
			   struct eddyi_res_fields *ret_fields);

/* Add fields that were kept; `res` has none of these names. Return: 0, -ENOMEM. */
int eddyi_res_fields_add(struct eddy_res *res, const struct eddyi_res_fields *fields);

/* Forget the body and what described it. */
void eddyi_res_clear_body(struct eddy_res *res);

/* Make an error response of a status as problem+json; without a `detail`, which is UTF-8, it has that of
 * the status. */
int eddyi_problem(struct eddy_res *res, int status, const char *detail);

#endif
