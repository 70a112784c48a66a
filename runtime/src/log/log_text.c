/* Log records as lines of text. */
#include <eddy/internal/log.h>
#include <eddy/internal/text.h>
#include <eddy/log.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CUT " …"
#define PLAIN "\033[0m"

/* A line being written. After an item that does not fit completely, nothing more is written. */
struct line {
	char *at;
	char *end; /* leaves room for CUT, the end of a colour and a newline */
	bool cut;
	bool colour;
};

static inline void put(struct line *line, const char *ptr, size_t len)
{
	if (line->cut || len > (size_t)(line->end - line->at)) {
		line->cut = true;
		return;
	}
	memcpy(line->at, ptr, len);
	line->at += len;
}

/* Write as much as fits. Each byte must be a character. */
static void put_some(struct line *line, const char *ptr, size_t len)
{
	size_t room = (size_t)(line->end - line->at);

	put(line, ptr, len < room ? len : room);
	line->cut |= len > room;
}

static inline void put_z(struct line *line, const char *z)
{
	put(line, z, strlen(z));
}

static void put_colour(struct line *line, const char *code)
{
	if (line->colour)
		put_z(line, code);
}

/* Whether the character moves the cursor, ends a line or changes the text direction. */
static bool is_control(const unsigned char *ptr, size_t len)
{
	switch (len) {
	case 1:
		return ptr[0] < ' ' || ptr[0] == 0x7f;
	case 2: /* U+0080 to U+009F */
		return ptr[0] == 0xc2 && ptr[1] < 0xa0;
	case 3: /* U+2028 to U+202E, U+2066 to U+2069 */
		return ptr[0] == 0xe2 && ((ptr[1] == 0x80 && ptr[2] >= 0xa8 && ptr[2] <= 0xae) ||
					  (ptr[1] == 0x81 && ptr[2] >= 0xa6 && ptr[2] <= 0xa9));
	default:
		return false;
	}
}

static void put_escape(struct line *line, unsigned char c)
{
	char text[8];

	switch (c) {
	case '\n':
		put(line, "\\n", 2);
		break;
	case '\r':
		put(line, "\\r", 2);
		break;
	case '\t':
		put(line, "\\t", 2);
		break;
	default:
		put(line, text, (size_t)snprintf(text, sizeof(text), "\\x%02x", c));
	}
}

/* Write text with control characters escaped; `quoted`: quotes and backslashes as well. */
static void put_escaped(struct line *line, struct eddy_str str, bool quoted)
{
	while (str.len && !line->cut) {
		const unsigned char *at = (const unsigned char *)str.ptr;
		size_t len = eddyi_str_plain_len(str);

		if (len) {
			put_some(line, str.ptr, len);
			str = eddy_str_skip(str, len);
			continue;
		}
		len = eddyi_str_utf8_len(str);
		if (!len || is_control(at, len)) {
			put_escape(line, *at);
			len = 1;
		} else {
			if (quoted && (*at == '"' || *at == '\\'))
				put(line, "\\", 1);
			put(line, str.ptr, len);
		}
		str = eddy_str_skip(str, len);
	}
}

/* Whether a value needs no quotes, because it has none of the line's own delimiters. */
static bool is_bare(struct eddy_str str)
{
	static const bool bare[256] = {
		['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['-'] = true,
		['.'] = true,         ['_'] = true,         ['~'] = true,         [':'] = true,
		['/'] = true,         ['@'] = true,         ['+'] = true,         ['%'] = true,
		['?'] = true,         ['&'] = true,
	};

	for (size_t i = 0; i < str.len; i++)
		if (!bare[(unsigned char)str.ptr[i]])
			return false;
	return str.len > 0;
}

static void put_text(struct line *line, struct eddy_str text)
{
	if (is_bare(text)) {
		put_some(line, text.ptr, text.len);
		return;
	}
	put(line, "\"", 1);
	put_escaped(line, text, true);
	put(line, "\"", 1);
}

static void put_u64(struct line *line, uint64_t value)
{
	char text[EDDY_U64_SIZE];

	put(line, text, eddy_u64_format(value, text));
}

static void put_field(struct line *line, const struct eddy_field *field)
{
	char text[EDDYI_F64_SIZE];

	put(line, " ", 1);
	put_escaped(line, eddy_str_from(field->name), true);
	put(line, "=", 1);
	switch (field->type) {
	case EDDY_FIELD_STR:
		put_text(line, field->value.str);
		break;
	case EDDY_FIELD_I64:
		if (field->value.i64 < 0)
			put(line, "-", 1);
		put_u64(line, field->value.i64 < 0 ? 0 - (uint64_t)field->value.i64 :
						     (uint64_t)field->value.i64);
		break;
	case EDDY_FIELD_U64:
		put_u64(line, field->value.u64);
		break;
	case EDDY_FIELD_F64:
		put(line, text, eddyi_f64_format(field->value.f64, text));
		break;
	case EDDY_FIELD_BOOL:
		put_z(line, field->value.flag ? "true" : "false");
		break;
	case EDDY_FIELD_LAZY: /* never in a record */
		break;
	}
}

void eddyi_log_format_time(uint64_t time_ns, char text[EDDYI_LOG_TIME_SIZE])
{
	/* Most records are from the same second as the previous one. */
	static _Thread_local struct {
		time_t second;
		char text[EDDYI_LOG_TIME_SIZE];
	} last __attribute__((tls_model("initial-exec")));
	time_t second = (time_t)(time_ns / EDDY_SECOND);
	unsigned us = (unsigned)(time_ns % EDDY_SECOND / EDDY_US);
	struct tm tm;

	if (second != last.second || !last.text[0]) {
		gmtime_r(&second, &tm);
		strftime(last.text, sizeof(last.text), "%Y-%m-%dT%H:%M:%S.000000Z", &tm);
		last.second = second;
	}
	memcpy(text, last.text, sizeof(last.text));
	for (int at = 25; us; at--, us /= 10)
		text[at] = (char)('0' + us % 10);
}

static void put_time(struct line *line, uint64_t time_ns)
{
	char text[EDDYI_LOG_TIME_SIZE];

	eddyi_log_format_time(time_ns, text);
	text[EDDYI_LOG_TIME_SIZE - 1] = ' ';
	put(line, text, EDDYI_LOG_TIME_SIZE);
}

static void put_level(struct line *line, enum eddy_log_level level)
{
	static const char *const codes[] = { "",         "\033[31m", "\033[33m",
					     "\033[32m", "\033[34m", "\033[35m" };
	static const char names[][7] = {
		"  OFF ", "ERROR ", " WARN ", " INFO ", "DEBUG ", "TRACE "
	};

	put_colour(line, codes[level]);
	put(line, names[level], sizeof(names[0]) - 1);
	put_colour(line, PLAIN);
}

size_t eddy_log_format_text(const struct eddy_record *record, bool colour,
			    char text[EDDY_LOG_LINE_MAX])
{
	struct line line = {
		.at = text,
		.end = text + EDDY_LOG_LINE_MAX - strlen(CUT) - strlen(PLAIN) - 1,
		.colour = colour,
	};

	put_colour(&line, "\033[2m");
	put_time(&line, record->time_ns);
	put_colour(&line, PLAIN);
	put_level(&line, record->level);
	put_colour(&line, "\033[2m");
	put_escaped(&line, eddy_str_from(record->target), false);
	put(&line, ": ", 2);
	put_colour(&line, PLAIN);
	put_escaped(&line, record->message, false);
	for (size_t i = 0; i < record->field_count; i++)
		put_field(&line, &record->fields[i]);
	if (line.cut) {
		line.end = text + EDDY_LOG_LINE_MAX - 1;
		line.cut = false;
		put_z(&line, CUT);
		put_colour(&line, PLAIN);
	}
	*line.at++ = '\n';
	return (size_t)(line.at - text);
}

/* `arg` is NULL for plain text. */
static void write_line(const struct eddy_record *record, void *arg)
{
	char line[EDDY_LOG_LINE_MAX];
	size_t len = eddy_log_format_text(record, arg != NULL, line);

	while (write(STDERR_FILENO, line, len) < 0 && errno == EINTR)
		;
}

bool eddyi_log_wants_colour(int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	int saved = errno;
	bool wants = isatty(fd) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);

	errno = saved;
	return wants;
}

int eddy_log_text_subscribe(void)
{
	static char coloured;

	return eddy_log_subscribe(write_line,
				  eddyi_log_wants_colour(STDERR_FILENO) ? &coloured : NULL);
}
