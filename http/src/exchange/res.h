/* res.h: functions of a response for this layer. */
#ifndef EDDYI_RES_H
#define EDDYI_RES_H

#include "exchange_state.h"

/* Copy the fields from index `from` on for other responses; none on allocation failure. */
void eddyi_res_fields_keep(const struct eddy_res *res, unsigned from,
			   struct eddyi_res_fields *ret_fields);

/* Add kept fields; `res` has none of these names. Return: 0, -ENOMEM. */
int eddyi_res_fields_add(struct eddy_res *res, const struct eddyi_res_fields *fields);

/* Remove the body and the fields that describe it. */
void eddyi_res_clear_body(struct eddy_res *res);

/* Make an error response as problem+json. `detail` is UTF-8; NULL: that of the status. */
int eddyi_problem(struct eddy_res *res, int status, const char *detail);

#endif
