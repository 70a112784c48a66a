/* eddy/tracing.h: requests that have a number, and say it.
 *
 *     eddy_app_set_tracing(app, &(struct eddy_tracing_options){ .header = true });
 *     eddy_app_use_tracing(app);
 *
 * Every record that is emitted while a request is handled, by its handler, the tasks that this spawns and
 * eddy itself, has a field `request_id`: a number of 64 bits in decimal that no other request has, in this
 * process or another. It also has `trace_id` and `span_id`: a traceparent that comes in is continued (W3C
 * Trace Context), a malformed one begins a new trace, and requests of eddy's client send it on.
 */
#ifndef EDDY_TRACING_H
#define EDDY_TRACING_H

#include <eddy/app.h>
#include <eddy/trace_context.h>

EDDY_BEGIN_DECLS

/* Every field: 0 or NULL means its default. */
struct eddy_tracing_options {
	bool header;             /* every answer has the number in a field */
	const char *header_name; /* of that name; default "request-id" */
	/* An INFO record of target "eddy::access" for every request, once it is over: `GET /path 200` with
	 * fields of the peer, the bytes of both bodies and the time. */
	bool access_log;
};

/* Describe how the app traces; the options are copied, not the strings. The section [tracing] of its
 * configuration file has the same names, and wins. */
EDDY_API void eddy_app_set_tracing(struct eddy_app *app,
				   const struct eddy_tracing_options *options);

/* Trace the app's requests. Once. */
EDDY_API void eddy_app_use_tracing(struct eddy_app *app);

/* Make the section [tracing] known to the app without tracing anything. */
EDDY_API void eddy_trace_config(struct eddy_app *app);

/* The number of the request that the current task works for; 0 outside of one that is traced. */
EDDY_API uint64_t eddy_request_id(void);

/* Its place in its trace: the span is that of the request here. NULL outside of one that is traced. */
EDDY_API const struct eddy_trace_context *eddy_request_trace(void);

EDDY_END_DECLS

#endif
