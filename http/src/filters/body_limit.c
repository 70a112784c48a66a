#include "exchange/coded.h"

#include <eddy/body_limit.h>

static int limit(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const uint64_t *max = eddy_next_data(next);
	uint64_t length = eddy_req_length(req);

	if (length != EDDY_LENGTH_UNKNOWN && length > *max)
		return 413;
	eddyi_decoded_limit(req, *max);
	return eddy_next(next, req, res);
}

void eddy_app_use_body_limit(union eddy_target target, uint64_t max)
{
	uint64_t *own = eddy_app_alloc(eddy_app_of(target), sizeof(*own));

	*own = max;
	eddy_app_add_filter(target, limit, own);
}
