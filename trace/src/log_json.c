/* A record as a line of JSON. */
#include <eddy/log_writer.h>

#include "json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

/* `}}` and the newline always have room; what does not fit whole is taken back. */
#define END_ROOM 3

/* Of which each byte may become six: the message always finds room behind it. */
#define TARGET_MAX 256

static void put_value(struct eddyi_json *json, const struct eddy_field *field)
{
	char text[EDDY_F64_SIZE];

	switch (field->type) {
	case EDDY_FIELD_STR:
		eddyi_json_put_string(json, field->value.str);
		return;
	case EDDY_FIELD_I64:
		snprintf(text, sizeof(text), "%" PRId64, field->value.i64);
		break;
	case EDDY_FIELD_U64:
		/* Few readers take a larger number. */
		snprintf(text, sizeof(text),
			 field->value.u64 > INT64_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64,
			 field->value.u64);
		break;
	case EDDY_FIELD_F64:
		/* JSON has no other numbers. */
		if (isfinite(field->value.f64))
			eddy_f64_format(field->value.f64, text);
		else
			strcpy(text, "null");
		break;
	case EDDY_FIELD_BOOL:
		snprintf(text, sizeof(text), "%s", field->value.flag ? "true" : "false");
		break;
	case EDDY_FIELD_LAZY: /* none of a record's is */
		strcpy(text, "null");
		break;
	}
	eddyi_json_put_z(json, text);
}

/* One that does not fit whole is left out, and so is what follows it. */
static void put_field(struct eddyi_json *json, const struct eddy_field *field, bool first)
{
	char *before = json->at;

	eddyi_json_put_z(json, first ? "" : ",");
	eddyi_json_put_string(json, eddy_str_from(field->name));
	eddyi_json_put_z(json, ":");
	put_value(json, field);
	if (json->full)
		json->at = before;
}

static void put_time(struct eddyi_json *json, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / EDDY_SECOND);
	char text[64];
	struct tm tm;
	size_t len;

	gmtime_r(&seconds, &tm);
	len = strftime(text, sizeof(text), "{\"time\":\"%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, sizeof(text) - len, ".%06uZ\"",
		 (unsigned)(time_ns % EDDY_SECOND / EDDY_US));
	eddyi_json_put_z(json, text);
}

size_t eddy_log_format_json(const struct eddy_record *record, char line[EDDY_LOG_LINE_MAX])
{
	static const char fields[] = ",\"fields\":{";
	struct eddy_str target = eddy_str_from(record->target);
	struct eddyi_json out = { line, line + EDDY_LOG_LINE_MAX - END_ROOM - sizeof(fields),
				  false };

	if (target.len > TARGET_MAX)
		target.len = TARGET_MAX;
	put_time(&out, record->time_ns);
	eddyi_json_put_z(&out, ",\"level\":\"");
	eddyi_json_put_z(&out, eddy_log_level_name(record->level));
	eddyi_json_put_z(&out, "\",\"target\":");
	eddyi_json_put_string(&out, target);
	eddyi_json_put_z(&out, ",\"message\":");
	eddyi_json_put_string(&out, record->message);
	out.end += sizeof(fields);
	out.full = false;
	eddyi_json_put_z(&out, fields);
	for (size_t i = 0; i < record->field_count && !out.full; i++)
		put_field(&out, &record->fields[i], i == 0);
	memcpy(out.at, "}}\n", END_ROOM);
	return (size_t)(out.at + END_ROOM - line);
}
