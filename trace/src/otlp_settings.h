/* otlp_settings.h: where spans go to, by whom, and with which fields: what the program says, else what
 * OpenTelemetry's environment does (its specifications "OTLP exporter" and "SDK environment variables"). */
#ifndef EDDYI_OTLP_SETTINGS_H
#define EDDYI_OTLP_SETTINGS_H

#include <eddy/header.h>
#include <eddy/tracing.h>

#define EDDYI_OTLP_HEADERS_MAX 16

struct eddyi_otlp_settings {
	char url[2048];
	/* The content-type and those that were asked for; one without a name ends them. They point into: */
	struct eddy_header headers[1 + EDDYI_OTLP_HEADERS_MAX + 1];
	char text[4096];
	size_t text_len;
	char head[4096]; /* what stands before the spans of a post */
	size_t head_len;
};

/* Find them. An environment that can't be used is told in an ERROR record, without what it says: there may be
 * passwords in it. Return: whether there is somewhere to export to. */
bool eddyi_otlp_settings_find(struct eddyi_otlp_settings *settings,
			      const struct eddy_tracing_options *options);

/* Whether this is a field as .collector_headers has it: "name: value". */
bool eddyi_otlp_settings_is_header(const char *text);

#endif
