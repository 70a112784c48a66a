/* span_exporter.h: sends finished spans to a collector. */
#ifndef EDDYI_SPAN_EXPORTER_H
#define EDDYI_SPAN_EXPORTER_H

/* A task of an app: exports spans until cancelled, if there is a collector. `arg` is a struct
 * eddy_tracing_options. */
int eddyi_span_exporter_run(void *arg);

/* Count an invalid traceparent. Any thread may call it. */
void eddyi_span_exporter_count_malformed(void);

#endif
