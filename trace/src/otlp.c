#include "otlp.h"

#include <eddy/internal/json.h>
#include <math.h>

#define NAME_MAX_BYTES 1024
#define STATE_MAX_BYTES 512

/* Room for the text after the attributes. */
#define END_ROOM 47

/* Span flags beside those of W3C: it is known whether the parent is remote, and it is. */
#define HAS_IS_REMOTE 0x100
#define IS_REMOTE 0x200

static struct eddy_str cut(const char *z, size_t max)
{
	return eddy_str(z, strnlen(z, max));
}

/* Infinities and NaN are strings. */
static void put_double(struct eddyi_text *json, double value)
{
	char text[EDDYI_F64_SIZE];

	if (isfinite(value)) {
		eddyi_json_name(json, "doubleValue");
		eddyi_json_f64(json, value);
	} else {
		eddyi_f64_format(value, text);
		eddyi_json_plain(json, "doubleValue", text);
	}
}

static void put_value(struct eddyi_text *json, const struct eddy_field *field)
{
	switch (field->type) {
	case EDDY_FIELD_STR:
		eddyi_json_name(json, "stringValue");
		eddyi_json_str(json, field->value.str);
		break;
	case EDDY_FIELD_I64:
		eddyi_json_name(json, "intValue");
		eddyi_json_i64_str(json, field->value.i64);
		break;
	case EDDY_FIELD_U64:
		if (field->value.u64 > INT64_MAX)
			eddyi_json_name(json, "stringValue");
		else
			eddyi_json_name(json, "intValue");
		eddyi_json_u64_str(json, field->value.u64);
		break;
	case EDDY_FIELD_F64:
		put_double(json, field->value.f64);
		break;
	case EDDY_FIELD_BOOL:
		eddyi_json_name(json, "boolValue");
		eddyi_json_bool(json, field->value.flag);
		break;
	case EDDY_FIELD_LAZY: /* not in records */
		break;
	}
}

/* Return: false if it does not fit; then nothing is written. */
static bool put_attribute(struct eddyi_text *json, const struct eddy_field *field)
{
	char *before = json->at;

	if (json->full)
		return false;
	eddyi_json_begin(json, "{");
	eddyi_json_name(json, "key");
	eddyi_json_str(json, eddy_str_from(field->name));
	eddyi_json_open(json, "value", "{");
	put_value(json, field);
	eddyi_json_end(json, '}');
	eddyi_json_end(json, '}');
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

	eddyi_json_open(json, "attributes", "[");
	for (size_t i = 0; i < count; i++)
		left_out += !put_attribute(json, &fields[i]);
	return left_out;
}

static void put_head(struct eddyi_text *json, const struct eddy_span_record *record)
{
	const struct eddy_trace_context *context = &record->context;
	unsigned flags = context->flags | HAS_IS_REMOTE |
			 (record->parent_is_remote ? IS_REMOTE : 0);

	eddyi_json_name(json, "traceId");
	eddyi_json_hex(json, context->trace_id, sizeof(context->trace_id));
	eddyi_json_name(json, "spanId");
	eddyi_json_hex(json, context->span_id, sizeof(context->span_id));
	if (record->trace_state) {
		eddyi_json_name(json, "traceState");
		eddyi_json_str(json, cut(record->trace_state, STATE_MAX_BYTES));
	}
	if (record->parent_id) {
		eddyi_json_name(json, "parentSpanId");
		eddyi_json_hex(json, record->parent_id, sizeof(context->span_id));
	}
	eddyi_json_name(json, "flags");
	eddyi_json_u64(json, flags);
	eddyi_json_name(json, "name");
	eddyi_json_str(json, cut(record->name, NAME_MAX_BYTES));
	eddyi_json_name(json, "kind");
	eddyi_json_u64(json, record->kind);
	eddyi_json_name(json, "startTimeUnixNano");
	eddyi_json_u64_str(json, record->start_ns);
	eddyi_json_name(json, "endTimeUnixNano");
	eddyi_json_u64_str(json, record->end_ns);
}

static void put_status(struct eddyi_text *json, const struct eddy_span_record *record)
{
	if (record->status == EDDY_SPAN_UNSET)
		return;
	eddyi_json_open(json, "status", "{");
	eddyi_json_name(json, "code");
	eddyi_json_u64(json, record->status);
	if (record->message) {
		eddyi_json_name(json, "message");
		eddyi_json_str(json, cut(record->message, EDDY_SPAN_TEXT_MAX));
	}
	eddyi_json_end(json, '}');
}

/* The longest names, states and messages fit: only attributes are left out. */
_Static_assert(6 * (NAME_MAX_BYTES + STATE_MAX_BYTES + EDDY_SPAN_TEXT_MAX) + 512 + END_ROOM <
		       EDDYI_OTLP_SPAN_MAX,
	       "a span without attributes fits");

size_t eddyi_otlp_format_span(const struct eddy_span_record *record, char text[EDDYI_OTLP_SPAN_MAX])
{
	struct eddyi_text json = { .at = text, .end = text + EDDYI_OTLP_SPAN_MAX - END_ROOM };
	unsigned dropped;

	eddyi_json_begin(&json, "{");
	put_head(&json, record);
	put_status(&json, record);
	dropped = record->dropped +
		  put_attributes(&json, record->attributes, record->attribute_count);
	json.end += END_ROOM;
	eddyi_json_end(&json, ']');
	if (dropped) {
		eddyi_json_name(&json, "droppedAttributesCount");
		eddyi_json_u64(&json, dropped);
	}
	eddyi_json_last(&json, '}');
	return (size_t)(json.at - text);
}

size_t eddyi_otlp_format_head(const struct eddy_field *resource, char *text, size_t size)
{
	struct eddyi_text json = { .at = text, .end = text + size };
	size_t count = 0;
	unsigned left_out;

	while (resource && resource[count].name)
		count++;
	eddyi_json_begin(&json, "{");
	eddyi_json_open(&json, "resourceSpans", "[{");
	eddyi_json_open(&json, "resource", "{");
	left_out = put_attributes(&json, resource, count);
	eddyi_json_end(&json, ']');
	eddyi_json_end(&json, '}');
	eddyi_json_open(&json, "scopeSpans", "[{");
	eddyi_json_open(&json, "scope", "{");
	eddyi_json_plain(&json, "name", "eddy");
	eddyi_json_plain(&json, "version", EDDYI_VERSION);
	eddyi_json_end(&json, '}');
	eddyi_json_open(&json, "spans", "[");
	return json.full || left_out ? 0 : (size_t)(json.at - text);
}
