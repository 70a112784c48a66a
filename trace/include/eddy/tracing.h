/* eddy/tracing.h: request ids, an access log, and distributed tracing of requests (OpenTelemetry).
 *
 *     eddy_app_set_tracing(app, &(struct eddy_tracing_options){
 *                                       .header = true,
 *                                       .collector = "http://localhost:4318/v1/traces",
 *                               });
 *     eddy_app_use_tracing(app);
 *
 * Log records emitted while a request is handled, by its handler, tasks spawned there, or eddy,
 * have `request_id`, a decimal 64-bit number that is unique across processes, and the `trace_id`
 * and `span_id` of the innermost span (eddy/span.h). A valid traceparent is continued (W3C Trace
 * Context); else a new trace begins.
 *
 * Requests are server spans; those that eddy's client sends meanwhile are client spans, and
 * propagate their ids. Names and attributes follow OpenTelemetry's HTTP conventions. Queries of
 * URLs are left out, as they may hold secrets.
 *
 * A process has one exporter: of several traced apps the first that runs exports all spans; when it
 * ends, the next takes over.
 */
#ifndef EDDY_TRACING_H
#define EDDY_TRACING_H

#include <eddy/app.h>
#include <eddy/trace_context.h>

EDDY_BEGIN_DECLS

/* What is logged and exported. A zero field takes its default. */
struct eddy_tracing_options {
	bool header;             /* send the request id in a response field */
	const char *header_name; /* the field's name; default "request-id" */
	/* Emit an INFO record of target "eddy::access" when a request is over: `GET /path 200`,
	 * with the peer, the bytes of both bodies and the time as fields. */
	bool access_log;

	/* ---- what is exported ---- */
	/* Share of new traces that is sampled, above 0, at most 1; default: all. A continued trace
	 * keeps its flag. */
	double sample;
	/* URL to which spans are posted as OTLP JSON. Default: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
	 * or OTEL_EXPORTER_OTLP_ENDPOINT followed by "/v1/traces", from the environment; without
	 * any, nothing is exported. */
	const char *collector;
	/* Header fields of posts, like "authorization: Bearer …", at most 16; NULL ends the list.
	 * Default: OTEL_EXPORTER_OTLP_TRACES_HEADERS or OTEL_EXPORTER_OTLP_HEADERS
	 * ("name=value,name=value"). */
	const char *const *collector_headers;
	const char *collector_ca; /* PEM certificates to trust beside the system's; default: none */
	const char *service; /* service name; default: OTEL_SERVICE_NAME, else the program's name */
	/* Spans in a post; default 512; at most 10000, 512 KiB and queue_max. */
	unsigned batch_max;
	/* Spans that wait to be posted; further ones are dropped; default 2048; at most 1000000,
	 * and 4 MiB. */
	unsigned queue_max;
	uint64_t age_ns;     /* the longest wait of a span for others; default 1 s */
	uint64_t timeout_ns; /* for the collector's response; default 10 s */
	/* First pause before a post is retried, which doubles up to 32 times that; default 1 s. A
	 * collector's Retry-After counts, up to 5 minutes. */
	uint64_t retry_ns;
	uint64_t flush_ns; /* to export the rest when the app ends; default 2 s */
};

/* Counters of spans since the process started. */
struct eddy_tracing_stats {
	uint64_t exported;  /* accepted by the collector */
	uint64_t dropped;   /* no room in the queue, or no time at the end */
	uint64_t failed;    /* rejected by the collector, or failed five times */
	uint64_t malformed; /* invalid traceparents received; each began a new trace */
};

/* Set how the app's requests are traced. Copied. The section [tracing] of its configuration file has
 * the same names and takes precedence. */
EDDY_API void eddy_app_set_tracing(struct eddy_app *app,
				   const struct eddy_tracing_options *options);

/* Trace the app's requests; a second call does nothing. */
EDDY_API void eddy_app_use_tracing(struct eddy_app *app);

/* Register the section [tracing] of the app's configuration file. Nothing is traced. */
EDDY_API void eddy_trace_config(struct eddy_app *app);

/* Get the counters of spans. Any thread may call it. */
EDDY_API struct eddy_tracing_stats eddy_tracing_stats(void);

/* Get the id of the current task's request. Return: 0 if there is none that is traced. */
EDDY_API uint64_t eddy_request_id(void);

/* Get the trace context of the current task's request; its span id is that of the server span.
 * Return: NULL if there is none that is traced. */
EDDY_API const struct eddy_trace_context *eddy_request_trace(void);

EDDY_END_DECLS

#endif
