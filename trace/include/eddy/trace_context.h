/* eddy/trace_context.h: W3C Trace Context, which identifies a request across services.
 *
 *     struct eddy_trace_context parent;
 *
 *     if (eddy_trace_context_parse(traceparent, &parent) == 0)
 *             options.parent = &parent;
 *     eddy_span_begin(&span, "job", &options);
 */
#ifndef EDDY_TRACE_CONTEXT_H
#define EDDY_TRACE_CONTEXT_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* The size of a traceparent, "00-" trace_id "-" span_id "-" flags, with a NUL. */
#define EDDY_TRACEPARENT_SIZE 56

struct eddy_trace_context {
	uint8_t trace_id[16]; /* never all zeros */
	uint8_t span_id[8];   /* never all zeros */
	uint8_t flags;
};

#define EDDY_TRACE_SAMPLED 0x01

/* Parse a traceparent (W3C Trace Context, 3.2), even of a later version. Return: 0; -EINVAL. */
EDDY_API int eddy_trace_context_parse(struct eddy_str traceparent,
				      struct eddy_trace_context *ret_context);

/* Format a traceparent of version 00. Return: its length. */
EDDY_API size_t eddy_trace_context_format(const struct eddy_trace_context *context,
					  char text[EDDY_TRACEPARENT_SIZE]);

EDDY_END_DECLS

#endif
