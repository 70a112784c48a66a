/* Tests of eddyi_log_format_json(). */
#include "log_json.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static json_t *parse(const struct eddy_record *record)
{
	char line[EDDY_LOG_LINE_MAX];
	size_t len = eddyi_log_format_json(record, line);
	json_error_t error;
	json_t *json;

	cr_assert(len <= sizeof(line) && line[len - 1] == '\n');
	cr_assert(memchr(line, '\n', len - 1) == NULL, "one line");
	json = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
	cr_assert(json != NULL, "%s: %.*s", error.text, (int)len, line);
	return json;
}

static const char *text_of(const json_t *json, const char *name)
{
	return json_string_value(json_object_get(json, name));
}

Test(log_json, has_all_of_a_record)
{
	struct eddy_field fields[] = {
		eddy_field_text("text", "a \"b\"\n\\"), eddy_field_u64("most", UINT64_MAX),
		eddy_field_i64("least", INT64_MIN),     eddy_field_f64("half", 0.5),
		eddy_field_f64("none", INFINITY),       eddy_field_bool("yes", true),
	};
	struct eddy_record record = {
		.time_ns = 1234567890123456789,
		.level = EDDY_LOG_WARN,
		.target = "shop::cart",
		.message = EDDY_STR("m\xff\x01"),
		.fields = fields,
		.field_count = 6,
	};
	json_t *json = parse(&record), *has = json_object_get(json, "fields");
	char line[EDDY_LOG_LINE_MAX];

	cr_expect(eq(str, (char *)text_of(json, "time"), "2009-02-13T23:31:30.123456Z"));
	cr_expect(eq(str, (char *)text_of(json, "level"), "WARN"));
	cr_expect(eq(str, (char *)text_of(json, "target"), "shop::cart"));
	cr_expect(eq(str, (char *)text_of(json, "message"), "m\xef\xbf\xbd\x01"));
	cr_expect(eq(str, (char *)text_of(has, "text"), "a \"b\"\n\\"));
	cr_expect(json_integer_value(json_object_get(has, "least")) == INT64_MIN);
	cr_expect(json_real_value(json_object_get(has, "half")) == 0.5);
	cr_expect(eq(int, (int)json_typeof(json_object_get(has, "none")), JSON_NULL));
	cr_expect(eq(int, (int)json_typeof(json_object_get(has, "yes")), JSON_TRUE));
	line[eddyi_log_format_json(&record, line)] = 0;
	cr_expect(strstr(line, "\"most\":\"18446744073709551615\",") != NULL, "%s", line);
	json_decref(json);
}

/* Whatever is too long, what is left is JSON. */
Test(log_json, is_whole_whatever_is_cut)
{
	static const char kinds[] = { 'a', '"', '\n', '\x01', '\xff' };
	char *text = malloc(5000);

	for (size_t kind = 0; kind < sizeof(kinds); kind++)
		for (size_t len = 0; len < 4999; len += len < 3800 ? 97 : 1) {
			struct eddy_field fields[3];
			struct eddy_record record = { .target = "t", .level = EDDY_LOG_INFO };

			memset(text, kinds[kind], len);
			text[len] = 0;
			fields[0] = eddy_field_str("first", eddy_str(text, len % 50));
			fields[1] = eddy_field_str("second", eddy_str(text, len));
			fields[2] = eddy_field_u64("third", 3);
			record.message = eddy_str(text, len / 3);
			record.fields = fields;
			record.field_count = 3;
			json_decref(parse(&record));
			record.target = text;
			record.message = eddy_str(text, len);
			json_decref(parse(&record));
			record.field_count = 0;
			json_decref(parse(&record));
		}
	free(text);
}

Test(log_json, says_that_a_message_was_cut)
{
	char text[4096];
	struct eddy_record record = { .target = "t", .level = EDDY_LOG_INFO };
	const char *message;
	json_t *json;

	memset(text, 'x', sizeof(text));
	record.message = eddy_str(text, sizeof(text));
	json = parse(&record);
	message = text_of(json, "message");
	cr_assert(eq(str, (char *)message + strlen(message) - 3, "…"));
	json_decref(json);
}
