/* eddy/tracing.h: requests that have a number and say it, and that are spans of traces.
 *
 *     eddy_app_set_tracing(app, &(struct eddy_tracing_options){
 *                                       .header = true,
 *                                       .collector = "http://localhost:4318/v1/traces",
 *                               });
 *     eddy_app_use_tracing(app);
 *
 * Every record that is emitted while a request is handled, by its handler, the tasks that this spawns and
 * eddy itself, has a field `request_id`: a number of 64 bits in decimal that no other request has, in this
 * process or another. It also has `trace_id` and `span_id`, of the innermost span (eddy/span.h): a traceparent
 * that comes in is continued (W3C Trace Context), a malformed one begins a new trace.
 *
 * Each request is a server span, each request of eddy's client that is made meanwhile a client span, whose id
 * goes out with it; both have the names and attributes of OpenTelemetry's stable conventions for HTTP. Queries of
 * URLs are left out on purpose: they may hold secrets.
 *
 * A process exports to one collector: of several apps that are traced, the first that runs exports the spans of
 * all, and the next one does so once that has ended.
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

	/* ---- what is exported ---- */
	double sample; /* the share of new traces, above 0 and up to 1; default: all. Of traces that come in
			  others have decided. */
	/* The URL of a collector that spans are posted to, as OTLP's JSON. Default: the environment's
	 * OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, or OTEL_EXPORTER_OTLP_ENDPOINT and "/v1/traces" behind it; without
	 * any nothing is exported. */
	const char *collector;
	/* Fields of every post, like "authorization: Bearer …", which NULL ends; 16 at most. Default: those of
	 * OTEL_EXPORTER_OTLP_TRACES_HEADERS or OTEL_EXPORTER_OTLP_HEADERS ("name=value,name=value"). */
	const char *const *collector_headers;
	const char *
		collector_ca; /* certificates to trust beside the system's, in PEM; default: none */
	const char *service; /* its name there; default: OTEL_SERVICE_NAME, else the program's name */
	/* Spans that are posted together; default 512; up to 10000, 512 KiB and queue_max. */
	unsigned batch_max;
	/* Spans that may wait, beside those that are being posted; default 2048; up to 1000000, and 4 MiB; others
	 * are dropped. */
	unsigned queue_max;
	uint64_t age_ns;     /* how long a span waits for others at most; default 1 s */
	uint64_t timeout_ns; /* for the collector to answer; default 10 s */
	uint64_t retry_ns; /* before a post is tried again: the first pause, which doubles up to 32 times
				that; default 1 s; a collector's Retry-After counts, up to 5 minutes */
	uint64_t flush_ns; /* for what is left when the app ends; default 2 s */
};

/* What became of spans, since the process began. */
struct eddy_tracing_stats {
	uint64_t exported;  /* the collector has taken them */
	uint64_t dropped;   /* they found no room, or time at the end */
	uint64_t failed;    /* the collector has refused them, or was tried five times in vain */
	uint64_t malformed; /* traceparents that came in and were none; each began a new trace */
};

/* Describe how the app traces; the options are copied, the strings borrowed for as long as the app lives.
 * The section [tracing] of its configuration file has the same names, and wins. */
EDDY_API void eddy_app_set_tracing(struct eddy_app *app,
				   const struct eddy_tracing_options *options);

/* Trace the app's requests. Once. */
EDDY_API void eddy_app_use_tracing(struct eddy_app *app);

/* Make the section [tracing] known to the app without tracing anything. */
EDDY_API void eddy_trace_config(struct eddy_app *app);

/* Read them. Any thread. */
EDDY_API struct eddy_tracing_stats eddy_tracing_stats(void);

/* The number of the request that the current task works for; 0 outside of one that is traced. */
EDDY_API uint64_t eddy_request_id(void);

/* Its place in its trace: the span is that of the request here. NULL outside of one that is traced. */
EDDY_API const struct eddy_trace_context *eddy_request_trace(void);

EDDY_END_DECLS

#endif
