/* otlp_settings.h: export settings from the program, else from OpenTelemetry's environment (its
 * specifications "OTLP exporter" and "SDK environment variables"). */
#ifndef EDDYI_OTLP_SETTINGS_H
#define EDDYI_OTLP_SETTINGS_H

#include <eddy/header.h>
#include <eddy/tracing.h>

#define EDDYI_OTLP_HEADERS_MAX 16

struct eddyi_otlp_settings {
	char url[2048];
	/* content-type and the configured fields, ending with a NULL name. They point into: */
	struct eddy_header headers[1 + EDDYI_OTLP_HEADERS_MAX + 1];
	char text[4096];
	size_t text_len;
	char head[4096]; /* text before the spans of a post */
	size_t head_len;
};

/* Find the settings. An invalid environment is reported in an ERROR record without its value, which
 * may hold passwords. Return: whether there is a collector. */
bool eddyi_otlp_settings_find(struct eddyi_otlp_settings *settings,
			      const struct eddy_tracing_options *options);

/* Whether a text is a valid field for .collector_headers: "name: value". */
bool eddyi_otlp_settings_is_header(const char *text);

#endif
