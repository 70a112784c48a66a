/* Log records as lines of JSON. */
#include "log_json.h"

#include <eddy/internal/log.h>
#include <eddy/internal/text.h>

#include "json_text.h"

#include <inttypes.h>
#include <math.h>

/* Room for `}}` and the newline, which are always written. */
#define END_ROOM 3

/* Escaping may take six bytes for each; the message still fits. */
#define TARGET_MAX 256

/* Numbers above INT64_MAX are strings, as few readers accept them. */
static void put_u64(struct eddyi_json *json, uint64_t value)
{
	const char *quote = value > INT64_MAX ? "\"" : "";
	char digits[EDDY_U64_SIZE];

	eddyi_json_put_z(json, quote);
	eddyi_json_put(json, digits, eddy_u64_format(value, digits));
	eddyi_json_put_z(json, quote);
}

static void put_value(struct eddyi_json *json, const struct eddy_field *field)
{
	char text[EDDYI_F64_SIZE];

	switch (field->type) {
	case EDDY_FIELD_STR:
		eddyi_json_put_string(json, field->value.str);
		break;
	case EDDY_FIELD_I64:
		eddyi_json_printf(json, "%" PRId64, field->value.i64);
		break;
	case EDDY_FIELD_U64:
		put_u64(json, field->value.u64);
		break;
	case EDDY_FIELD_F64:
		/* JSON has no infinities or NaN. */
		if (isfinite(field->value.f64))
			eddyi_json_put(json, text, eddyi_f64_format(field->value.f64, text));
		else
			eddyi_json_put_z(json, "null");
		break;
	case EDDY_FIELD_BOOL:
		eddyi_json_put_z(json, field->value.flag ? "true" : "false");
		break;
	case EDDY_FIELD_LAZY: /* not in records */
		eddyi_json_put_z(json, "null");
		break;
	}
}

/* A field that does not fit is left out, with all that follow. */
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
	char text[EDDYI_LOG_TIME_SIZE];

	eddyi_log_format_time(time_ns, text);
	eddyi_json_put_z(json, "{\"time\":\"");
	eddyi_json_put_z(json, text);
	eddyi_json_put_z(json, "\"");
}

size_t eddyi_log_format_json(const struct eddy_record *record, char line[EDDY_LOG_LINE_MAX])
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
