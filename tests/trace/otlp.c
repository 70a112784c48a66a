/* Tests of otlp.h. */
#include "otlp.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/json.h>
#include <math.h>
#include <stdlib.h>

static const uint8_t parent[8] = { 0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31 };

static struct eddy_span_record plain(void)
{
	return (struct eddy_span_record){
		.context = { .trace_id = { 0x0a, [15] = 0x9c }, .span_id = { [7] = 1 }, .flags = 1 },
		.name = "GET /x",
		.kind = EDDY_SPAN_SERVER,
		.start_ns = 1600000000000000001,
		.end_ns = 1600000000000000999,
	};
}

static char text[EDDYI_OTLP_SPAN_MAX + 1];

static const char *format(const struct eddy_span_record *record)
{
	size_t len = eddyi_otlp_format_span(record, text);

	cr_assert(le(sz, len, EDDYI_OTLP_SPAN_MAX));
	text[len] = 0;
	return text;
}

static json_t *parse(const char *json)
{
	json_t *parsed = NULL;

	cr_assert(eq(int, eddy_json_parse(eddy_str_from(json), 16, SIZE_MAX, &parsed), 0), "%s",
		  json);
	return parsed;
}

Test(otlp, writes_what_there_is)
{
	struct eddy_span_record record = plain();

	cr_expect(eq(str, (char *)format(&record),
		     "{\"traceId\":\"0a00000000000000000000000000009c\","
		     "\"spanId\":\"0000000000000001\",\"flags\":257,\"name\":\"GET /x\",\"kind\":2,"
		     "\"startTimeUnixNano\":\"1600000000000000001\","
		     "\"endTimeUnixNano\":\"1600000000000000999\",\"attributes\":[]}"));
	record.parent_id = parent;
	record.parent_is_remote = true;
	record.trace_state = "a=\"1\"";
	record.status = EDDY_SPAN_ERROR;
	record.message = "b\n";
	record.dropped = 3;
	cr_expect(eq(str, (char *)format(&record),
		     "{\"traceId\":\"0a00000000000000000000000000009c\","
		     "\"spanId\":\"0000000000000001\",\"traceState\":\"a=\\\"1\\\"\","
		     "\"parentSpanId\":\"b7ad6b7169203331\",\"flags\":769,\"name\":\"GET /x\","
		     "\"kind\":2,\"startTimeUnixNano\":\"1600000000000000001\","
		     "\"endTimeUnixNano\":\"1600000000000000999\","
		     "\"status\":{\"code\":2,\"message\":\"b\\n\"},\"attributes\":[],"
		     "\"droppedAttributesCount\":3}"));
}

/* Integers are strings, doubles that are no numbers words, bytes that are no UTF-8 U+FFFD. */
Test(otlp, writes_values_of_each_type)
{
	const struct eddy_field fields[] = {
		eddy_field_str("s", EDDY_STR("\xff\"")),
		eddy_field_i64("i", INT64_MIN),
		eddy_field_u64("u", INT64_MAX),
		eddy_field_u64("U", UINT64_MAX),
		eddy_field_f64("d", 0.5),
		eddy_field_f64("n", (double)NAN),
		eddy_field_f64("+", (double)INFINITY),
		eddy_field_f64("-", -(double)INFINITY),
		eddy_field_bool("t", true),
		eddy_field_bool("f", false),
	};
	struct eddy_span_record record = plain();
	const char *attributes;

	record.attributes = fields;
	record.attribute_count = sizeof(fields) / sizeof(*fields);
	attributes = strstr(format(&record), "\"attributes\":");
	cr_expect(eq(str, (char *)attributes,
		     "\"attributes\":["
		     "{\"key\":\"s\",\"value\":{\"stringValue\":\"\\ufffd\\\"\"}},"
		     "{\"key\":\"i\",\"value\":{\"intValue\":\"-9223372036854775808\"}},"
		     "{\"key\":\"u\",\"value\":{\"intValue\":\"9223372036854775807\"}},"
		     "{\"key\":\"U\",\"value\":{\"stringValue\":\"18446744073709551615\"}},"
		     "{\"key\":\"d\",\"value\":{\"doubleValue\":0.5}},"
		     "{\"key\":\"n\",\"value\":{\"doubleValue\":\"NaN\"}},"
		     "{\"key\":\"+\",\"value\":{\"doubleValue\":\"Infinity\"}},"
		     "{\"key\":\"-\",\"value\":{\"doubleValue\":\"-Infinity\"}},"
		     "{\"key\":\"t\",\"value\":{\"boolValue\":true}},"
		     "{\"key\":\"f\",\"value\":{\"boolValue\":false}}]}"));
}

/* At its longest a span is whole, and says what it has left out. */
Test(otlp, is_bounded)
{
	static char long_text[5000];
	struct eddy_field fields[40];
	struct eddy_span_record record = plain();
	unsigned dropped, written;
	json_t *json;

	memset(long_text, 0xff, sizeof(long_text) - 1);
	for (int i = 0; i < 40; i++)
		fields[i] = eddy_field_u64("small", 1);
	fields[3] = eddy_field_str("large", eddy_str(long_text, 1024));
	record.attributes = fields;
	record.attribute_count = 40;
	record.name = record.message = record.trace_state = long_text;
	record.status = EDDY_SPAN_ERROR;
	record.parent_id = parent;
	record.start_ns = record.end_ns = UINT64_MAX;
	record.dropped = UINT32_MAX - 40;
	json = parse(format(&record));
	dropped = (unsigned)json_integer_value(json_object_get(json, "droppedAttributesCount"));
	written = (unsigned)json_array_size(json_object_get(json, "attributes"));
	cr_expect(eq(uint, dropped - record.dropped + written, 40));
	cr_expect(lt(uint, written, 40));
	cr_expect(eq(sz, json_string_length(json_object_get(json, "name")), 3 * 1024));
	json_decref(json);
}

Test(otlp, a_head_says_who_sends_them)
{
	struct eddy_span_record record = plain();
	char head[1024];
	size_t len = eddyi_otlp_format_head(EDDY_FIELDS(eddy_field_text("service.name", "a\"b"),
							eddy_field_u64("n", 1)),
					    head, sizeof(head));
	char whole[2 * EDDYI_OTLP_SPAN_MAX];
	json_t *json, *resource, *spans;

	cr_assert(gt(sz, len, 0));
	snprintf(whole, sizeof(whole), "%.*s%s,%s" EDDYI_OTLP_TAIL, (int)len, head, format(&record),
		 text);
	json = parse(whole);
	cr_assert(eq(int,
		     json_unpack(json, "{s:[{s:{s:o}, s:[{s:{s:s, s:s}, s:o}]}]}", "resourceSpans",
				 "resource", "attributes", &resource, "scopeSpans", "scope", "name",
				 &(const char *){ 0 }, "version", &(const char *){ 0 }, "spans",
				 &spans),
		     0));
	cr_expect(eq(sz, json_array_size(resource), 2));
	cr_expect(eq(sz, json_array_size(spans), 2));
	json_decref(json);
	for (size_t size = 0; size < len; size++)
		cr_expect(eq(
			sz,
			eddyi_otlp_format_head(EDDY_FIELDS(eddy_field_text("service.name", "a\"b"),
							   eddy_field_u64("n", 1)),
					       head, size),
			0));
}
