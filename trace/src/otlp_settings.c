#include "otlp_settings.h"

#include "otlp.h"
#include "trace_context.h"

#include <eddy/internal/http.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <eddy/client.h>
#include <eddy/log.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SERVICE_MAX 255

static const char *env(const char *name)
{
	const char *value = eddyi_getenv_now(name);

	return value && *value ? value : NULL;
}

static void complain(const char *name, const char *what)
{
	eddy_error("eddy::tracing", "Spans are not exported: %s %s", name, what);
}

/* ---- URL ---- */

static bool find_url(struct eddyi_otlp_settings *settings, const char *url)
{
	const char *behind = "", *name = "collector";
	size_t size = sizeof(settings->url);

	if (!url)
		url = env(name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
	if (!url) {
		url = env(name = "OTEL_EXPORTER_OTLP_ENDPOINT");
		behind = url && url[strlen(url) - 1] == '/' ? "v1/traces" : "/v1/traces";
	}
	if (!url)
		return false;
	if ((size_t)snprintf(settings->url, size, "%s%s", url, behind) < size &&
	    eddyi_client_check_url(settings->url) == 0)
		return true;
	complain(name, "is not an http or https URL");
	return false;
}

/* ---- header fields ---- */

static bool is_value(struct eddy_str value)
{
	for (size_t i = 0; i < value.len; i++)
		if ((unsigned char)value.ptr[i] < ' ' || value.ptr[i] == 0x7f)
			return false;
	return true;
}

/* Copy a string with a NUL. Return: NULL if there is no room. */
static char *keep(struct eddyi_otlp_settings *settings, struct eddy_str str)
{
	char *at = settings->text + settings->text_len;

	if (str.len >= sizeof(settings->text) - settings->text_len)
		return NULL;
	if (str.len)
		memcpy(at, str.ptr, str.len);
	at[str.len] = 0;
	settings->text_len += str.len + 1;
	return at;
}

/* Decode percent escapes in place; invalid ones and %00 stay. */
static void unescape(char *text)
{
	struct eddy_str from = eddy_str_from(text);

	for (size_t i = 0; i < from.len; i++) {
		int byte = eddyi_percent_at(from, i);

		*text++ = byte > 0 ? (char)byte : from.ptr[i];
		i += byte > 0 ? 2 : 0;
	}
	*text = 0;
}

/* content-type is fixed. */
static bool may_set(const char *name)
{
	return eddyi_client_may_set(name) &&
	       !eddy_str_eq_nocase(eddy_str_from(name), eddy_str_from("content-type"));
}

/* Return: whether the field is valid and fits. */
static bool add(struct eddyi_otlp_settings *settings, struct eddy_str name, struct eddy_str value,
		bool is_escaped)
{
	char *kept_name, *kept_value;
	size_t count = 0;

	while (settings->headers[count].name)
		count++;
	if (count > EDDYI_OTLP_HEADERS_MAX)
		return false;
	kept_name = keep(settings, eddy_str_trim(name));
	kept_value = kept_name ? keep(settings, eddy_str_trim(value)) : NULL;
	if (!kept_value)
		return false;
	if (is_escaped)
		unescape(kept_value);
	if (!may_set(kept_name) || !is_value(eddy_str_from(kept_value)))
		return false;
	settings->headers[count] = (struct eddy_header){ kept_name, kept_value };
	return true;
}

static bool add_line(struct eddyi_otlp_settings *settings, const char *line)
{
	struct eddy_str value = eddy_str_from(line), name;

	return strchr(line, ':') && eddy_str_split(&value, ':', &name) &&
	       add(settings, name, value, false);
}

/* Add "name=value,name=value", the baggage format (W3C Baggage, section 3.2) without properties. */
static bool add_list(struct eddyi_otlp_settings *settings, const char *list)
{
	struct eddy_str rest = eddy_str_from(list), member, name;

	while (eddy_str_split(&rest, ',', &member)) {
		if (!eddy_str_trim(member).len)
			continue;
		if (!memchr(member.ptr, '=', member.len) || !eddy_str_split(&member, '=', &name) ||
		    !add(settings, name, member, true))
			return false;
	}
	return true;
}

bool eddyi_otlp_settings_is_header(const char *text)
{
	struct eddyi_otlp_settings settings = { .text_len = 0 };

	return add_line(&settings, text);
}

static bool find_headers(struct eddyi_otlp_settings *settings, const char *const *lines)
{
	const char *name = "OTEL_EXPORTER_OTLP_TRACES_HEADERS", *list = lines ? NULL : env(name);
	bool all = true;

	settings->headers[0] = (struct eddy_header){ "content-type", "application/json" };
	for (; lines && *lines && all; lines++)
		all = add_line(settings, *lines);
	if (!all) {
		complain("collector_headers", "has more than 16 fields, or an invalid one");
		return false;
	}
	if (!lines && !list)
		list = env(name = "OTEL_EXPORTER_OTLP_HEADERS");
	if (!list || add_list(settings, list))
		return true;
	complain(name, "has more than 16 fields, or an invalid one");
	return false;
}

/* ---- service ---- */

/* A random UUID (RFC 9562 section 5.4). */
static void make_uuid(char text[37])
{
	uint64_t a = eddyi_trace_unique(), b = eddyi_trace_unique();

	snprintf(text, 37, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
		 (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
		 (unsigned)(b >> 48 & 0x3fff) | 0x8000, (unsigned long long)(b & 0xffffffffffff));
}

static void make_head(struct eddyi_otlp_settings *settings, const char *service)
{
	char uuid[37];

	if (!service)
		service = env("OTEL_SERVICE_NAME");
	if (!service)
		service = program_invocation_short_name;
	make_uuid(uuid);
	settings->head_len = eddyi_otlp_format_head(
		EDDY_FIELDS(eddy_field_str("service.name",
					   eddy_str(service, strnlen(service, SERVICE_MAX))),
			    eddy_field_text("service.instance.id", uuid),
			    eddy_field_text("telemetry.sdk.name", "eddy"),
			    eddy_field_text("telemetry.sdk.language", "c"),
			    eddy_field_text("telemetry.sdk.version", EDDYI_VERSION)),
		settings->head, sizeof(settings->head));
}

bool eddyi_otlp_settings_find(struct eddyi_otlp_settings *settings,
			      const struct eddy_tracing_options *options)
{
	memset(settings, 0, sizeof(*settings));
	if (!find_url(settings, options->collector) ||
	    !find_headers(settings, options->collector_headers))
		return false;
	make_head(settings, options->service);
	return true;
}
