#include "otlp.h"

#include "trace_context.h"

#include <eddy/internal/text.h>
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

static void put_id(struct eddyi_text *json, const char *before, const uint8_t *id, size_t size)
{
	char text[33];

	eddyi_trace_id_format(id, size, text);
	eddyi_text(json, before);
	eddyi_text(json, "\"");
	eddyi_text(json, text);
	eddyi_text(json, "\"");
}

/* Infinities and NaN are strings. */
static void put_double(struct eddyi_text *json, double value)
{
	const char *quote = isfinite(value) ? "" : "\"";

	eddyi_text(json, quote);
	eddyi_text_f64(json, value);
	eddyi_text(json, quote);
}

static void put_value(struct eddyi_text *json, const struct eddy_field *field)
{
	switch (field->type) {
	case EDDY_FIELD_STR:
		eddyi_text(json, "{\"stringValue\":");
		eddyi_text_json_str(json, field->value.str);
		break;
	case EDDY_FIELD_I64:
		eddyi_text(json, "{\"intValue\":\"");
		eddyi_text_i64(json, field->value.i64);
		eddyi_text(json, "\"");
		break;
	case EDDY_FIELD_U64:
		eddyi_text(json, field->value.u64 > INT64_MAX ? "{\"stringValue\":\"" :
								"{\"intValue\":\"");
		eddyi_text_u64(json, field->value.u64);
		eddyi_text(json, "\"");
		break;
	case EDDY_FIELD_F64:
		eddyi_text(json, "{\"doubleValue\":");
		put_double(json, field->value.f64);
		break;
	case EDDY_FIELD_BOOL:
		eddyi_text(json,
			   field->value.flag ? "{\"boolValue\":true" : "{\"boolValue\":false");
		break;
	case EDDY_FIELD_LAZY: /* not in records */
		eddyi_text(json, "{");
		break;
	}
	eddyi_text(json, "}");
}

/* Return: false if it does not fit; then nothing is written. */
static bool put_attribute(struct eddyi_text *json, const struct eddy_field *field, bool first)
{
	char *before = json->at;

	eddyi_text(json, first ? "{\"key\":" : ",{\"key\":");
	eddyi_text_json_str(json, eddy_str_from(field->name));
	eddyi_text(json, ",\"value\":");
	put_value(json, field);
	eddyi_text(json, "}");
	if (!json->full)
		return true;
	json->at = before;
	json->full = false;
	return false;
}

static unsigned put_attributes(struct eddyi_text *json, const struct eddy_field *fields,
			       size_t count)
{
	unsigned left_out = 0;
	bool first = true;

	eddyi_text(json, "\"attributes\":[");
	for (size_t i = 0; i < count; i++) {
		if (put_attribute(json, &fields[i], first))
			first = false;
		else
			left_out++;
	}
	return left_out;
}

static void put_head(struct eddyi_text *json, const struct eddy_span_record *record)
{
	const struct eddy_trace_context *context = &record->context;
	unsigned flags = context->flags | HAS_IS_REMOTE |
			 (record->parent_is_remote ? IS_REMOTE : 0);

	put_id(json, "{\"traceId\":", context->trace_id, sizeof(context->trace_id));
	put_id(json, ",\"spanId\":", context->span_id, sizeof(context->span_id));
	if (record->trace_state) {
		eddyi_text(json, ",\"traceState\":");
		eddyi_text_json_str(json, cut(record->trace_state, STATE_MAX_BYTES));
	}
	if (record->parent_id)
		put_id(json, ",\"parentSpanId\":", record->parent_id, sizeof(context->span_id));
	eddyi_text(json, ",\"flags\":");
	eddyi_text_u64(json, flags);
	eddyi_text(json, ",\"name\":");
	eddyi_text_json_str(json, cut(record->name, NAME_MAX_BYTES));
	eddyi_text(json, ",\"kind\":");
	eddyi_text_u64(json, record->kind);
	eddyi_text(json, ",\"startTimeUnixNano\":\"");
	eddyi_text_u64(json, record->start_ns);
	eddyi_text(json, "\",\"endTimeUnixNano\":\"");
	eddyi_text_u64(json, record->end_ns);
	eddyi_text(json, "\"");
}

static void put_status(struct eddyi_text *json, const struct eddy_span_record *record)
{
	if (record->status == EDDY_SPAN_UNSET)
		return;
	eddyi_text(json, ",\"status\":{\"code\":");
	eddyi_text_u64(json, record->status);
	if (record->message) {
		eddyi_text(json, ",\"message\":");
		eddyi_text_json_str(json, cut(record->message, EDDY_SPAN_TEXT_MAX));
	}
	eddyi_text(json, "}");
}

/* The longest names, states and messages fit: only attributes are left out. */
_Static_assert(6 * (NAME_MAX_BYTES + STATE_MAX_BYTES + EDDY_SPAN_TEXT_MAX) + 512 + END_ROOM <
		       EDDYI_OTLP_SPAN_MAX,
	       "a span without attributes fits");

size_t eddyi_otlp_format_span(const struct eddy_span_record *record, char text[EDDYI_OTLP_SPAN_MAX])
{
	struct eddyi_text json = { .at = text, .end = text + EDDYI_OTLP_SPAN_MAX - END_ROOM };
	unsigned dropped;

	put_head(&json, record);
	put_status(&json, record);
	eddyi_text(&json, ",");
	dropped = record->dropped +
		  put_attributes(&json, record->attributes, record->attribute_count);
	json.end += END_ROOM;
	eddyi_text(&json, "]");
	if (dropped) {
		eddyi_text(&json, ",\"droppedAttributesCount\":");
		eddyi_text_u64(&json, dropped);
	}
	eddyi_text(&json, "}");
	return (size_t)(json.at - text);
}

size_t eddyi_otlp_format_head(const struct eddy_field *resource, char *text, size_t size)
{
	struct eddyi_text json = { .at = text, .end = text + size };
	size_t count = 0;
	unsigned left_out;

	while (resource && resource[count].name)
		count++;
	eddyi_text(&json, "{\"resourceSpans\":[{\"resource\":{");
	left_out = put_attributes(&json, resource, count);
	eddyi_text(&json,
		   "]},\"scopeSpans\":[{\"scope\":{\"name\":\"eddy\",\"version\":\"" EDDYI_VERSION
		   "\"},\"spans\":[");
	return json.full || left_out ? 0 : (size_t)(json.at - text);
}
