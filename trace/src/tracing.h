/* tracing.h: what an app's tracing is made of. */
#ifndef EDDYI_TRACING_H
#define EDDYI_TRACING_H

#include <eddy/client_observer.h>
#include <eddy/observer.h>
#include <eddy/span.h>
#include <eddy/tracing.h>

struct eddyi_tracing {
	struct eddy_tracing_options options; /* a configuration file may change them */
	bool used;
};

/* Spans of requests, and their records; `data` is a struct eddyi_tracing. */
extern const struct eddy_observer eddyi_tracing_observer;

/* Spans of requests to others, by tasks that have a span. */
extern const struct eddy_client_observer eddyi_tracing_client_observer;

/* A task of an app: export spans for as long as it is not cancelled, where there is a collector. `arg` is a struct
 * eddyi_tracing. */
int eddyi_tracing_export(void *arg);

/* A traceparent came in that is none. Any thread. */
void eddyi_tracing_count_malformed(void);

/* The name that OpenTelemetry has for a method: "_OTHER" for those that RFC 9110 and RFC 5789 do not define.
 * Return: static memory. */
const char *eddyi_tracing_method(struct eddy_str method);

#endif
