/* probe.h: where requests begin and end, for those who look from outside: static probes, which are nops, and the
 * timeline. */
#ifndef EDDYI_HTTP_PROBE_H
#define EDDYI_HTTP_PROBE_H

#include "exchange_state.h"

#include <eddy/loop.h>
#include <eddy/timeline.h>
#include <eddy/internal/usdt.h>

/* Put the request onto the timeline. */
void eddyi_probe_span(const struct eddy_req *req, uint64_t began_ns, bool whole);

/* Return: when it began; 0 where nobody wants to know. */
static inline uint64_t eddyi_probe_request(const struct eddy_req *req)
{
	(void)req; /* where there are no probes */
	EDDYI_USDT(request__start, req, req->head.method_name.ptr, req->head.method_name.len,
		   req->head.target.path.ptr, req->head.target.path.len);
	if (__builtin_expect(eddyi_trace_state == EDDYI_TRACE_OFF, 1))
		return 0;
	/* Who begins between slices may end in one; no clock is read for it. */
	return eddyi_trace_state == EDDYI_TRACE_ON ? eddy_now() : eddy_loop_now();
}

/* `whole`: the answer was sent to its end. */
static inline void eddyi_probe_answered(const struct eddy_req *req, uint64_t began_ns, bool whole)
{
	EDDYI_USDT(request__end, req, req->res.status, whole);
	if (__builtin_expect(began_ns != 0, 0) && eddyi_trace_state == EDDYI_TRACE_ON)
		eddyi_probe_span(req, began_ns, whole);
}

#endif
