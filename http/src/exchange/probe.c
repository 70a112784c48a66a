#include "probe.h"

#include <eddy/log.h>
#include <eddy/observer.h>
#include <string.h>

#define NAME_SIZE 96

static void append(char name[NAME_SIZE], size_t *len, struct eddy_str str)
{
	size_t fits = str.len < NAME_SIZE - *len ? str.len : NAME_SIZE - *len;

	if (fits)
		memcpy(name + *len, str.ptr, fits);
	*len += fits;
}

void eddyi_probe_span(const struct eddy_req *req, uint64_t began_ns, bool whole)
{
	struct eddy_str pattern = eddy_req_pattern(req);
	char name[NAME_SIZE];
	size_t len = 0;

	append(name, &len, req->head.method_name);
	if (pattern.len) {
		append(name, &len, EDDY_STR(" "));
		append(name, &len, pattern);
	}
	/* Without the query, which may hold private data. */
	eddy_trace_span(eddy_str(name, len), began_ns, eddy_now(),
			EDDY_FIELDS(eddy_field_i64("status", req->res.status),
				    eddy_field_bool("whole", whole),
				    eddy_field_i64("fd", req->stream->number),
				    eddy_field_str("path", req->head.target.path)));
}
