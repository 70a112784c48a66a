#include "probe.h"

#include <eddy/log.h>
#include <stdio.h>

#define NAME_SIZE 96

void eddyi_probe_span(const struct eddy_req *req, uint64_t began_ns, bool whole)
{
	struct eddy_str method = req->head.method_name, pattern = eddy_req_pattern(req);
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%.*s %.*s", EDDY_FMT(method), EDDY_FMT(pattern));
	/* Without the query: it may hold what is nobody's business. */
	eddy_trace_span(eddy_str_trim(eddy_str_from(name)), began_ns, eddy_now(),
			EDDY_FIELDS(eddy_field_i64("status", req->res.status),
				    eddy_field_bool("whole", whole),
				    eddy_field_i64("fd", req->wire->fd),
				    eddy_field_str("path", req->head.target.path)));
}
