/* eddy/trace_context.h: W3C Trace Context, the name of a request that many services share.
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

/* "00-" trace_id "-" span_id "-" flags, and a NUL. */
#define EDDY_TRACEPARENT_SIZE 56

struct eddy_trace_context {
	uint8_t trace_id[16]; /* never all zeros */
	uint8_t span_id[8];   /* as is this */
	uint8_t flags;
};

#define EDDY_TRACE_SAMPLED 0x01

/* Begin a trace: random ids, sampled. */
EDDY_API void eddy_trace_context_new(struct eddy_trace_context *ret_context);

/* Go on with a trace: a random span id within it. */
EDDY_API void eddy_trace_context_child(const struct eddy_trace_context *parent,
				       struct eddy_trace_context *ret_child);

/* Read a traceparent (W3C Trace Context, section 3.2): also of a later version, as far as it is known.
 * Return: 0, -EINVAL. */
EDDY_API int eddy_trace_context_parse(struct eddy_str traceparent,
				      struct eddy_trace_context *ret_context);

/* Write it as a traceparent of version 00. Return: its length. */
EDDY_API size_t eddy_trace_context_format(const struct eddy_trace_context *context,
					  char text[EDDY_TRACEPARENT_SIZE]);

/* Write an id of `size` bytes as digits, two for each, and a NUL. */
EDDY_API void eddy_trace_id_format(const uint8_t *id, size_t size, char *text);

/* Check a tracestate: up to 32 members, 512 bytes, keys and values as section 3.3 has them.
 * Return: whether it may be passed on. */
EDDY_API bool eddy_tracestate_is_valid(struct eddy_str tracestate);

/* A number that no other call returns, in this process or another: 64 bits. */
EDDY_API uint64_t eddy_trace_unique(void);

EDDY_END_DECLS

#endif
