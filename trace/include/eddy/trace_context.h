/* eddy/trace_context.h: W3C Trace Context, which identifies a request across services.
 *
 *     struct eddy_trace_context context;
 *
 *     if (eddy_trace_context_parse(traceparent, &context) < 0)
 *             eddy_trace_context_new(&context);
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

/* Begin a new trace: random ids, sampled. */
EDDY_API void eddy_trace_context_new(struct eddy_trace_context *ret_context);

/* Continue a trace with a random span id. */
EDDY_API void eddy_trace_context_child(const struct eddy_trace_context *parent,
				       struct eddy_trace_context *ret_child);

/* Parse a traceparent (W3C Trace Context, 3.2), also of later versions. Return: 0; -EINVAL. */
EDDY_API int eddy_trace_context_parse(struct eddy_str traceparent,
				      struct eddy_trace_context *ret_context);

/* Format a traceparent of version 00. Return: its length. */
EDDY_API size_t eddy_trace_context_format(const struct eddy_trace_context *context,
					  char text[EDDY_TRACEPARENT_SIZE]);

/* Format an id of `size` bytes as two hexadecimal digits each, and a NUL. */
EDDY_API void eddy_trace_id_format(const uint8_t *id, size_t size, char *text);

/* Tell whether a tracestate is valid and may be passed on: at most 32 members and 512 bytes, keys
 * and values as in W3C Trace Context, 3.3. */
EDDY_API bool eddy_tracestate_is_valid(struct eddy_str tracestate);

/* Get a 64-bit number that no other call returns, in this process or another. */
EDDY_API uint64_t eddy_trace_unique(void);

EDDY_END_DECLS

#endif
