/* Log records as lines of JSON. */
#include "log_json.h"

#include <eddy/internal/log.h>
#include <eddy/internal/text.h>

#include <math.h>

/* Room for `}}` and the newline, which are always written. */
#define END_ROOM 3

/* Escaping may take six bytes for each; the message still fits. */
#define TARGET_MAX 256

/* Numbers above INT64_MAX are strings, as few readers accept them. */
static void put_u64(struct eddyi_text *json, uint64_t value)
{
	const char *quote = value > INT64_MAX ? "\"" : "";

	eddyi_text(json, quote);
	eddyi_text_u64(json, value);
	eddyi_text(json, quote);
}

static void put_value(struct eddyi_text *json, const struct eddy_field *field)
{
	switch (field->type) {
	case EDDY_FIELD_STR:
		eddyi_text_json_str(json, field->value.str);
		break;
	case EDDY_FIELD_I64:
		eddyi_text_i64(json, field->value.i64);
		break;
	case EDDY_FIELD_U64:
		put_u64(json, field->value.u64);
		break;
	case EDDY_FIELD_F64:
		/* JSON has no infinities or NaN. */
		if (isfinite(field->value.f64))
			eddyi_text_f64(json, field->value.f64);
		else
			eddyi_text(json, "null");
		break;
	case EDDY_FIELD_BOOL:
		eddyi_text(json, field->value.flag ? "true" : "false");
		break;
	case EDDY_FIELD_LAZY: /* not in records */
		eddyi_text(json, "null");
		break;
	}
}

/* A field that does not fit is left out, with all that follow. */
static void put_field(struct eddyi_text *json, const struct eddy_field *field, bool first)
{
	char *before = json->at;

	eddyi_text(json, first ? "" : ",");
	eddyi_text_json_str(json, eddy_str_from(field->name));
	eddyi_text(json, ":");
	put_value(json, field);
	if (json->full)
		json->at = before;
}

static void put_time(struct eddyi_text *json, uint64_t time_ns)
{
	char text[EDDYI_LOG_TIME_SIZE];

	eddyi_log_format_time(time_ns, text);
	eddyi_text(json, "{\"time\":\"");
	eddyi_text(json, text);
	eddyi_text(json, "\"");
}

size_t eddyi_log_format_json(const struct eddy_record *record, char line[EDDY_LOG_LINE_MAX])
{
	static const char fields[] = ",\"fields\":{";
	struct eddy_str target = eddy_str_from(record->target);
	struct eddyi_text out = {
		.at = line,
		.end = line + EDDY_LOG_LINE_MAX - END_ROOM - sizeof(fields),
	};

	if (target.len > TARGET_MAX)
		target.len = TARGET_MAX;
	put_time(&out, record->time_ns);
	eddyi_text(&out, ",\"level\":\"");
	eddyi_text(&out, eddy_log_level_name(record->level));
	eddyi_text(&out, "\",\"target\":");
	eddyi_text_json_str(&out, target);
	eddyi_text(&out, ",\"message\":");
	eddyi_text_json_str(&out, record->message);
	out.end += sizeof(fields);
	out.full = false;
	eddyi_text(&out, fields);
	for (size_t i = 0; i < record->field_count && !out.full; i++)
		put_field(&out, &record->fields[i], i == 0);
	memcpy(out.at, "}}\n", END_ROOM);
	return (size_t)(out.at + END_ROOM - line);
}
