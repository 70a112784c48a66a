/* tracing.h: the parts of an app's tracing. */
#ifndef EDDYI_TRACING_H
#define EDDYI_TRACING_H

#include <eddy/client_observer.h>
#include <eddy/observer.h>
#include <eddy/span.h>
#include <eddy/tracing.h>

struct eddyi_tracing {
	struct eddy_tracing_options options; /* the configuration file may change them */
	bool used;
};

/* Makes server spans and access log records; `data` is a struct eddyi_tracing. */
extern const struct eddy_observer eddyi_tracing_observer;

/* Makes client spans, in tasks that have a span. */
extern const struct eddy_client_observer eddyi_tracing_client_observer;

/* A task of an app: exports spans until cancelled, if there is a collector. `arg` is a struct
 * eddyi_tracing. */
int eddyi_tracing_export(void *arg);

/* Count an invalid traceparent. Any thread may call it. */
void eddyi_tracing_count_malformed(void);

/* Get OpenTelemetry's name of a method, "_OTHER" outside of RFC 9110 and RFC 5789. Static
 * memory. */
const char *eddyi_tracing_method(struct eddy_str method);

#endif
