/* trace_context.h: ids of traces and requests. */
#ifndef EDDYI_TRACE_CONTEXT_H
#define EDDYI_TRACE_CONTEXT_H

#include <eddy/trace_context.h>

/* Begin a new trace: random ids, sampled. */
void eddyi_trace_context_new(struct eddy_trace_context *ret_context);

/* Continue a trace with a random span id. */
void eddyi_trace_context_child(const struct eddy_trace_context *parent,
			       struct eddy_trace_context *ret_child);

/* Tell whether a tracestate is valid and may be passed on: at most 32 members and 512 bytes, keys
 * and values as in W3C Trace Context, 3.3. */
EDDY_API bool eddyi_tracestate_is_valid(struct eddy_str tracestate);

/* Get a 64-bit number that no other call returns, in this process or another. */
EDDY_API uint64_t eddyi_trace_unique(void);

#endif
