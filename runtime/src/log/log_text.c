/* Log records as lines of text. */
#include <eddy/internal/log.h>
#include <eddy/internal/text.h>
#include <eddy/log.h>

#include "log_stand_in.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CUT " …"
#define PLAIN "\033[0m"

static void put_colour(struct eddyi_text *line, bool colour, const char *code)
{
	if (colour)
		eddyi_text(line, code);
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

static void put_escape(struct eddyi_text *line, unsigned char c)
{
	char text[] = "\\xxx";

	switch (c) {
	case '\n':
		eddyi_text(line, "\\n");
		break;
	case '\r':
		eddyi_text(line, "\\r");
		break;
	case '\t':
		eddyi_text(line, "\\t");
		break;
	default:
		eddyi_text_put(line, text, (size_t)(eddyi_hex_format(&c, 1, text + 2) - text));
	}
}

/* Write a character, or the escapes of a control character's bytes or of an invalid byte. */
static void put_character(struct eddyi_text *line, struct eddy_str character)
{
	const unsigned char *at = (const unsigned char *)character.ptr;

	if (character.len && !is_control(at, character.len)) {
		eddyi_text_put(line, character.ptr, character.len);
		return;
	}
	put_escape(line, *at);
	for (size_t i = 1; i < character.len; i++)
		put_escape(line, at[i]);
}

/* Write a character of a quoted text. */
static void put_quotable(struct eddyi_text *line, struct eddy_str character)
{
	if (character.len && (*character.ptr == '"' || *character.ptr == '\\'))
		eddyi_text(line, "\\");
	put_character(line, character);
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

static void put_text(struct eddyi_text *line, struct eddy_str text)
{
	if (is_bare(text)) {
		eddyi_text_some(line, text);
		return;
	}
	eddyi_text(line, "\"");
	eddyi_text_escaped(line, text, put_quotable);
	eddyi_text(line, "\"");
}

static void put_field(struct eddyi_text *line, const struct eddy_field *field)
{
	eddyi_text(line, " ");
	eddyi_text_escaped(line, eddy_str_from(field->name), put_quotable);
	eddyi_text(line, "=");
	switch (field->type) {
	case EDDY_FIELD_STR:
		put_text(line, field->value.str);
		break;
	case EDDY_FIELD_I64:
		eddyi_text_i64(line, field->value.i64);
		break;
	case EDDY_FIELD_U64:
		eddyi_text_u64(line, field->value.u64);
		break;
	case EDDY_FIELD_F64:
		eddyi_text_f64(line, field->value.f64);
		break;
	case EDDY_FIELD_BOOL:
		eddyi_text(line, field->value.flag ? "true" : "false");
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

static void put_time(struct eddyi_text *line, uint64_t time_ns)
{
	char text[EDDYI_LOG_TIME_SIZE];

	eddyi_log_format_time(time_ns, text);
	text[EDDYI_LOG_TIME_SIZE - 1] = ' ';
	eddyi_text_put(line, text, EDDYI_LOG_TIME_SIZE);
}

static void put_level(struct eddyi_text *line, bool colour, enum eddy_log_level level)
{
	static const char *const codes[] = { "",         "\033[31m", "\033[33m",
					     "\033[32m", "\033[34m", "\033[35m" };
	static const char names[][7] = {
		"  OFF ", "ERROR ", " WARN ", " INFO ", "DEBUG ", "TRACE "
	};

	put_colour(line, colour, codes[level]);
	eddyi_text_put(line, names[level], sizeof(names[0]) - 1);
	put_colour(line, colour, PLAIN);
}

size_t eddy_log_format_text(const struct eddy_record *record, bool colour,
			    char text[EDDY_LOG_LINE_MAX])
{
	struct eddyi_text line = {
		.at = text,
		/* The mark of a cut line, the end of a colour and the newline always fit. */
		.end = text + EDDY_LOG_LINE_MAX - strlen(CUT) - strlen(PLAIN) - 1,
	};

	put_colour(&line, colour, "\033[2m");
	put_time(&line, record->time_ns);
	put_colour(&line, colour, PLAIN);
	put_level(&line, colour, record->level);
	put_colour(&line, colour, "\033[2m");
	eddyi_text_escaped(&line, eddy_str_from(record->target), put_character);
	eddyi_text(&line, ": ");
	put_colour(&line, colour, PLAIN);
	eddyi_text_escaped(&line, record->message, put_character);
	for (size_t i = 0; i < record->field_count; i++)
		put_field(&line, &record->fields[i]);
	if (line.full) {
		line.end = text + EDDY_LOG_LINE_MAX - 1;
		line.full = false;
		eddyi_text(&line, CUT);
		put_colour(&line, colour, PLAIN);
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

eddy_log_fn *eddyi_log_text(void **ret_arg)
{
	static char coloured;

	*ret_arg = eddyi_log_wants_colour(STDERR_FILENO) ? &coloured : NULL;
	return write_line;
}

int eddy_log_text_subscribe(void)
{
	void *arg;
	eddy_log_fn *fn = eddyi_log_text(&arg);

	return eddy_log_subscribe(fn, arg);
}
