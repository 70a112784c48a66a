/* otlp.h: finished spans as OTLP JSON (ExportTraceServiceRequest of opentelemetry-proto).
 *
 *     len = eddyi_otlp_format_head(resource, text, sizeof(text));
 *     len += eddyi_otlp_format_span(record, text + len);        // a comma between two
 *     …EDDYI_OTLP_TAIL…
 */
#ifndef EDDYI_OTLP_H
#define EDDYI_OTLP_H

#include <eddy/span.h>

/* The most bytes of a span; attributes that do not fit are left out, and counted. */
#define EDDYI_OTLP_SPAN_MAX ((size_t)(16 * EDDY_KIB))

/* Format a span as a JSON object, without a NUL. Names are cut at 1 KiB, a tracestate at 512 bytes.
 * Invalid UTF-8 becomes U+FFFD; numbers above INT64_MAX become strings. Return: its length. */
EDDY_API size_t eddyi_otlp_format_span(const struct eddy_span_record *record,
				       char text[EDDYI_OTLP_SPAN_MAX]);

/* Format the text before the first span; `resource` (as EDDY_FIELDS() makes it) identifies the
 * service. Return: its length; 0 if `size` is too small. */
EDDY_API size_t eddyi_otlp_format_head(const struct eddy_field *resource, char *text, size_t size);

/* The text after the last span. */
#define EDDYI_OTLP_TAIL "]}]}]}"

#endif
