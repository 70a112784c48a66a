/* A record as a line of JSON. */
#include <eddy/log_writer.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

/* `}}` and the newline always have room; what does not fit whole is taken back. */
#define END_ROOM 3

/* Of which each byte may become six: the message always finds room behind it. */
#define TARGET_MAX 256

struct line {
	char *at;
	char *end;
	bool full;
};

static void put(struct line *line, const char *ptr, size_t len)
{
	if (line->full || len > (size_t)(line->end - line->at)) {
		line->full = true;
		return;
	}
	memcpy(line->at, ptr, len);
	line->at += len;
}

static void put_z(struct line *line, const char *z)
{
	put(line, z, strlen(z));
}

static void put_escape(struct line *line, unsigned char c)
{
	char text[8];

	if (c == '"' || c == '\\')
		snprintf(text, sizeof(text), "\\%c", c);
	else if (c == '\n')
		strcpy(text, "\\n");
	else
		snprintf(text, sizeof(text), "\\u%04x", c);
	put_z(line, text);
}

/* The string with its quotes. One that does not fit ends early, and "…" says so. */
static void put_string(struct line *line, struct eddy_str str)
{
	static const char cut[] = "…\"";
	char *end = line->end;

	put(line, "\"", 1);
	if (line->full)
		return;
	if ((size_t)(line->end - line->at) < sizeof(cut) - 1) {
		line->full = true;
		return;
	}
	line->end -= sizeof(cut) - 1;
	while (str.len && !line->full) {
		const unsigned char *at = (const unsigned char *)str.ptr;
		size_t len = eddy_str_utf8_len(str);

		if (!len)
			put_z(line, "\\ufffd");
		else if (*at < ' ' || *at == '"' || *at == '\\' || *at == 0x7f)
			put_escape(line, *at);
		else
			put(line, str.ptr, len);
		str = eddy_str_skip(str, len ? len : 1);
	}
	line->end = end;
	if (line->full) {
		line->full = false;
		put_z(line, cut);
		line->full = true;
	} else {
		put(line, "\"", 1);
	}
}

static void put_value(struct line *line, const struct eddy_field *field)
{
	char text[40];

	switch (field->type) {
	case EDDY_FIELD_STR:
		put_string(line, field->value.str);
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
		snprintf(text, sizeof(text), isfinite(field->value.f64) ? "%.17g" : "null",
			 field->value.f64);
		break;
	case EDDY_FIELD_BOOL:
		snprintf(text, sizeof(text), "%s", field->value.flag ? "true" : "false");
		break;
	case EDDY_FIELD_LAZY: /* none of a record's is */
		strcpy(text, "null");
		break;
	}
	put_z(line, text);
}

/* One that does not fit whole is left out, and so is what follows it. */
static void put_field(struct line *line, const struct eddy_field *field, bool first)
{
	char *before = line->at;

	put_z(line, first ? "" : ",");
	put_string(line, eddy_str_from(field->name));
	put_z(line, ":");
	put_value(line, field);
	if (line->full)
		line->at = before;
}

static void put_time(struct line *line, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / EDDY_SECOND);
	char text[64];
	struct tm tm;
	size_t len;

	gmtime_r(&seconds, &tm);
	len = strftime(text, sizeof(text), "{\"time\":\"%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, sizeof(text) - len, ".%06uZ\"",
		 (unsigned)(time_ns % EDDY_SECOND / EDDY_US));
	put_z(line, text);
}

size_t eddy_log_format_json(const struct eddy_record *record, char line[EDDY_LOG_LINE_MAX])
{
	static const char fields[] = ",\"fields\":{";
	struct eddy_str target = eddy_str_from(record->target);
	struct line out = { line, line + EDDY_LOG_LINE_MAX - END_ROOM - sizeof(fields), false };

	if (target.len > TARGET_MAX)
		target.len = TARGET_MAX;
	put_time(&out, record->time_ns);
	put_z(&out, ",\"level\":\"");
	put_z(&out, eddy_log_level_name(record->level));
	put_z(&out, "\",\"target\":");
	put_string(&out, target);
	put_z(&out, ",\"message\":");
	put_string(&out, record->message);
	out.end += sizeof(fields);
	out.full = false;
	put_z(&out, fields);
	for (size_t i = 0; i < record->field_count && !out.full; i++)
		put_field(&out, &record->fields[i], i == 0);
	memcpy(out.at, "}}\n", END_ROOM);
	return (size_t)(out.at + END_ROOM - line);
}
