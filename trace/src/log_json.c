/* Log records as lines of JSON. */
#include "log_json.h"

#include <eddy/internal/json.h>
#include <eddy/internal/log.h>

/* Room for `}}` and the newline, which are always written; the first one replaces a comma. */
#define END_ROOM 2

/* Escaping may take six bytes for each; the message still fits. */
#define TARGET_MAX 256

static void put_value(struct eddyi_text *json, const struct eddy_field *field)
{
	switch (field->type) {
	case EDDY_FIELD_STR:
		eddyi_json_str(json, field->value.str);
		break;
	case EDDY_FIELD_I64:
		eddyi_json_i64(json, field->value.i64);
		break;
	case EDDY_FIELD_U64:
		/* Few readers accept numbers above INT64_MAX. */
		if (field->value.u64 > INT64_MAX)
			eddyi_json_u64_str(json, field->value.u64);
		else
			eddyi_json_u64(json, field->value.u64);
		break;
	case EDDY_FIELD_F64:
		eddyi_json_f64(json, field->value.f64);
		break;
	case EDDY_FIELD_BOOL:
		eddyi_json_bool(json, field->value.flag);
		break;
	case EDDY_FIELD_LAZY: /* not in records */
		eddyi_text(json, "null,");
		break;
	}
}

/* A field that does not fit is left out, with all that follow. */
static void put_field(struct eddyi_text *json, const struct eddy_field *field)
{
	char *before = json->at;

	eddyi_json_name_str(json, eddy_str_from(field->name));
	put_value(json, field);
	if (json->full)
		json->at = before;
}

static void put_time(struct eddyi_text *json, uint64_t time_ns)
{
	char text[EDDYI_LOG_TIME_SIZE];

	eddyi_log_format_time(time_ns, text);
	eddyi_json_plain(json, "time", text);
}

size_t eddyi_log_format_json(const struct eddy_record *record, char line[EDDY_LOG_LINE_MAX])
{
	static const char fields[] = "\"fields\":{";
	struct eddy_str target = eddy_str_from(record->target);
	struct eddyi_text out = {
		.at = line,
		.end = line + EDDY_LOG_LINE_MAX - END_ROOM - sizeof(fields),
	};

	if (target.len > TARGET_MAX)
		target.len = TARGET_MAX;
	eddyi_json_begin(&out, "{");
	put_time(&out, record->time_ns);
	eddyi_json_plain(&out, "level", eddy_log_level_name(record->level));
	eddyi_json_name(&out, "target");
	eddyi_json_str(&out, target);
	eddyi_json_name(&out, "message");
	eddyi_json_str(&out, record->message);
	out.end += sizeof(fields);
	out.full = false;
	eddyi_text(&out, fields);
	for (size_t i = 0; i < record->field_count && !out.full; i++)
		put_field(&out, &record->fields[i]);
	out.end += END_ROOM;
	out.full = false;
	eddyi_json_end(&out, '}');
	eddyi_json_last(&out, '}');
	eddyi_text(&out, "\n");
	return (size_t)(out.at - line);
}
