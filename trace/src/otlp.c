#include "otlp.h"

#include "json_text.h"
#include "trace_context.h"

#include <eddy/internal/text.h>

#include <inttypes.h>
#include <math.h>

#define NAME_MAX_BYTES 1024
#define STATE_MAX_BYTES 512

/* Room for the text after the attributes. */
#define END_ROOM 48

/* Span flags beside those of W3C: it is known whether the parent is remote, and it is. */
#define HAS_IS_REMOTE 0x100
#define IS_REMOTE 0x200

static struct eddy_str cut(const char *z, size_t max)
{
	return eddy_str(z, strnlen(z, max));
}

static void put_id(struct eddyi_json *json, const char *before, const uint8_t *id, size_t size)
{
	char text[33];

	eddyi_trace_id_format(id, size, text);
	eddyi_json_printf(json, "%s\"%s\"", before, text);
}

/* Infinities and NaN are strings. */
static void put_double(struct eddyi_json *json, double value)
{
	char text[EDDYI_F64_SIZE];

	eddyi_f64_format(value, text);
	eddyi_json_printf(json, isfinite(value) ? "%s" : "\"%s\"", text);
}

static void put_value(struct eddyi_json *json, const struct eddy_field *field)
{
	switch (field->type) {
	case EDDY_FIELD_STR:
		eddyi_json_put_z(json, "{\"stringValue\":");
		eddyi_json_put_string(json, field->value.str);
		break;
	case EDDY_FIELD_I64:
		eddyi_json_printf(json, "{\"intValue\":\"%" PRId64 "\"", field->value.i64);
		break;
	case EDDY_FIELD_U64:
		eddyi_json_printf(json, "{\"%s\":\"%" PRIu64 "\"",
				  field->value.u64 > INT64_MAX ? "stringValue" : "intValue",
				  field->value.u64);
		break;
	case EDDY_FIELD_F64:
		eddyi_json_put_z(json, "{\"doubleValue\":");
		put_double(json, field->value.f64);
		break;
	case EDDY_FIELD_BOOL:
		eddyi_json_put_z(json, field->value.flag ? "{\"boolValue\":true" :
							   "{\"boolValue\":false");
		break;
	case EDDY_FIELD_LAZY: /* not in records */
		eddyi_json_put_z(json, "{");
		break;
	}
	eddyi_json_put(json, "}", 1);
}

/* Return: false if it does not fit; then nothing is written. */
static bool put_attribute(struct eddyi_json *json, const struct eddy_field *field, bool first)
{
	char *before = json->at;

	eddyi_json_put_z(json, first ? "{\"key\":" : ",{\"key\":");
	eddyi_json_put_string(json, eddy_str_from(field->name));
	eddyi_json_put_z(json, ",\"value\":");
	put_value(json, field);
	eddyi_json_put(json, "}", 1);
	if (!json->full)
		return true;
	json->at = before;
	json->full = false;
	return false;
}

static unsigned put_attributes(struct eddyi_json *json, const struct eddy_field *fields,
			       size_t count)
{
	unsigned left_out = 0;
	bool first = true;

	eddyi_json_put_z(json, "\"attributes\":[");
	for (size_t i = 0; i < count; i++) {
		if (put_attribute(json, &fields[i], first))
			first = false;
		else
			left_out++;
	}
	return left_out;
}

static void put_head(struct eddyi_json *json, const struct eddy_span_record *record)
{
	const struct eddy_trace_context *context = &record->context;
	unsigned flags = context->flags | HAS_IS_REMOTE |
			 (record->parent_is_remote ? IS_REMOTE : 0);

	put_id(json, "{\"traceId\":", context->trace_id, sizeof(context->trace_id));
	put_id(json, ",\"spanId\":", context->span_id, sizeof(context->span_id));
	if (record->trace_state) {
		eddyi_json_put_z(json, ",\"traceState\":");
		eddyi_json_put_string(json, cut(record->trace_state, STATE_MAX_BYTES));
	}
	if (record->parent_id)
		put_id(json, ",\"parentSpanId\":", record->parent_id, sizeof(context->span_id));
	eddyi_json_printf(json, ",\"flags\":%u,\"name\":", flags);
	eddyi_json_put_string(json, cut(record->name, NAME_MAX_BYTES));
	eddyi_json_printf(json,
			  ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64
			  "\",\"endTimeUnixNano\":\"%" PRIu64 "\"",
			  (int)record->kind, record->start_ns, record->end_ns);
}

static void put_status(struct eddyi_json *json, const struct eddy_span_record *record)
{
	if (record->status == EDDY_SPAN_UNSET)
		return;
	eddyi_json_printf(json, ",\"status\":{\"code\":%d", (int)record->status);
	if (record->message) {
		eddyi_json_put_z(json, ",\"message\":");
		eddyi_json_put_string(json, cut(record->message, EDDY_SPAN_TEXT_MAX));
	}
	eddyi_json_put(json, "}", 1);
}

/* The longest names, states and messages fit: only attributes are left out. */
_Static_assert(6 * (NAME_MAX_BYTES + STATE_MAX_BYTES + EDDY_SPAN_TEXT_MAX) + 512 + END_ROOM <
		       EDDYI_OTLP_SPAN_MAX,
	       "a span without attributes fits");

size_t eddyi_otlp_format_span(const struct eddy_span_record *record, char text[EDDYI_OTLP_SPAN_MAX])
{
	struct eddyi_json json = { text, text + EDDYI_OTLP_SPAN_MAX - END_ROOM, false };
	unsigned dropped;

	put_head(&json, record);
	put_status(&json, record);
	eddyi_json_put(&json, ",", 1);
	dropped = record->dropped +
		  put_attributes(&json, record->attributes, record->attribute_count);
	json.end += END_ROOM;
	eddyi_json_put(&json, "]", 1);
	if (dropped)
		eddyi_json_printf(&json, ",\"droppedAttributesCount\":%u", dropped);
	eddyi_json_put(&json, "}", 1);
	return (size_t)(json.at - text);
}

size_t eddyi_otlp_format_head(const struct eddy_field *resource, char *text, size_t size)
{
	struct eddyi_json json = { text, text + size, false };
	size_t count = 0;
	unsigned left_out;

	while (resource && resource[count].name)
		count++;
	eddyi_json_put_z(&json, "{\"resourceSpans\":[{\"resource\":{");
	left_out = put_attributes(&json, resource, count);
	eddyi_json_put_z(
		&json,
		"]},\"scopeSpans\":[{\"scope\":{\"name\":\"eddy\",\"version\":\"" EDDYI_VERSION
		"\"},\"spans\":[");
	return json.full || left_out ? 0 : (size_t)(json.at - text);
}
