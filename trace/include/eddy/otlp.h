/* eddy/otlp.h: finished spans as OTLP's JSON has them (the JSON mapping of opentelemetry-proto's
 * ExportTraceServiceRequest), for who exports them himself; eddy/tracing.h has an exporter.
 *
 *     len = eddy_otlp_format_head(resource, text, sizeof(text));
 *     len += eddy_otlp_format_span(record, text + len);        // a comma between two
 *     …EDDY_OTLP_TAIL…
 */
#ifndef EDDY_OTLP_H
#define EDDY_OTLP_H

#include <eddy/span.h>

EDDY_BEGIN_DECLS

/* No span is longer: attributes that do not fit are left out, and counted. */
#define EDDY_OTLP_SPAN_MAX ((size_t)(16 * EDDY_KIB))

/* Write a span as an object, without a NUL. Names are cut at 1 KiB, a tracestate at 512 bytes; bytes that are no
 * UTF-8 become U+FFFD, and numbers past INT64_MAX strings. Return: its length. */
EDDY_API size_t eddy_otlp_format_span(const struct eddy_span_record *record,
				      char text[EDDY_OTLP_SPAN_MAX]);

/* Write what stands before the first span; `resource` (as EDDY_FIELDS() makes it) says who sends them.
 * Return: its length; 0 when `size` does not suffice. */
EDDY_API size_t eddy_otlp_format_head(const struct eddy_field *resource, char *text, size_t size);

/* What stands behind the last. */
#define EDDY_OTLP_TAIL "]}]}]}"

EDDY_END_DECLS

#endif
