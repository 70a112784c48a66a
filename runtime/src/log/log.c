#include "log.h"

#include "core/loop.h"
#include "core/scope.h"

#include <eddy/internal/log.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <eddy/log.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- filter ---- */

static bool parse_level(struct eddy_str word, enum eddy_log_level *ret_level)
{
	static const char *const names[] = { "off", "error", "warn", "info", "debug", "trace" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!eddy_str_eq_nocase(word, eddy_str_from(names[i])))
			continue;
		*ret_level = (enum eddy_log_level)i;
		return true;
	}
	return false;
}

static bool is_target(struct eddy_str word)
{
	if (!word.len)
		return false;
	for (size_t i = 0; i < word.len; i++)
		if ((unsigned char)word.ptr[i] <= ' ' || word.ptr[i] == '=' || word.ptr[i] == '"')
			return false;
	return true;
}

/* Parse LEVEL or TARGET=LEVEL. */
static bool parse_part(struct eddyi_log_filter *filter, struct eddy_str part)
{
	struct eddy_str target = { "", 0 }, rest = part;
	enum eddy_log_level level;

	if (memchr(part.ptr, '=', part.len)) {
		eddy_str_split(&rest, '=', &target);
		target = eddy_str_trim(target);
		if (!is_target(target))
			return false;
	}
	if (filter->count == EDDYI_LOG_FILTER_PARTS_MAX ||
	    !parse_level(eddy_str_trim(rest), &level))
		return false;
	filter->parts[filter->count].target = target;
	filter->parts[filter->count++].level = level;
	if (level > filter->level)
		filter->level = level;
	return true;
}

static void note_bad(struct eddyi_log_filter *filter, struct eddy_str part)
{
	size_t used = strlen(filter->bad), room = sizeof(filter->bad) - used;
	int len = snprintf(filter->bad + used, room, "%s\"%.*s\"", used ? ", " : "",
			   EDDY_FMT(part.len < 80 ? part : eddy_str(part.ptr, 80)));

	if (len >= (int)room)
		filter->bad[used] = 0; /* drop it: earlier parts are enough */
}

void eddyi_log_filter_parse(struct eddyi_log_filter *filter, const char *text)
{
	struct eddy_str rest, part;
	size_t len = text ? strlen(text) : 0;

	filter->count = 0;
	filter->level = EDDY_LOG_OFF;
	filter->bad[0] = 0;
	if (len >= sizeof(filter->text)) {
		snprintf(filter->bad, sizeof(filter->bad), "a text of %zu bytes", len);
		len = 0;
	}
	if (len)
		memcpy(filter->text, text, len);
	rest = eddy_str(filter->text, len);
	while (eddy_str_split(&rest, ',', &part)) {
		part = eddy_str_trim(part);
		if (part.len && !parse_part(filter, part))
			note_bad(filter, part);
	}
	if (!filter->count)
		parse_part(filter, eddy_str_from("info"));
}

/* "eddy" covers "eddy" and "eddy::app", but not "eddying". */
static bool covers(struct eddy_str part, struct eddy_str target)
{
	if (!part.len)
		return true;
	if (!eddy_str_starts(target, part))
		return false;
	target = eddy_str_skip(target, part.len);
	return !target.len || eddy_str_starts(target, EDDY_STR("::"));
}

bool eddyi_log_filter_lets(const struct eddyi_log_filter *filter, enum eddy_log_level level,
			   const char *target)
{
	struct eddy_str name = eddy_str_from(target);
	enum eddy_log_level limit = EDDY_LOG_OFF;
	size_t longest = 0;

	if (level > filter->level)
		return false;
	/* The longest match wins; the last among equals. */
	for (size_t i = 0; i < filter->count; i++) {
		struct eddy_str part = filter->parts[i].target;

		if (part.len >= longest && covers(part, name)) {
			longest = part.len;
			limit = filter->parts[i].level;
		}
	}
	return level <= limit;
}

/* ---- records as lines of text ---- */

#define LINE_CUT " …"
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
		.end = text + EDDY_LOG_LINE_MAX - strlen(LINE_CUT) - strlen(PLAIN) - 1,
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
		eddyi_text(&line, LINE_CUT);
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

	while (eddyi_write_now(STDERR_FILENO, line, len) < 0 && errno == EINTR)
		;
}

bool eddyi_log_wants_colour(int fd)
{
	const char *no_color = eddyi_getenv_now("NO_COLOR"), *term = eddyi_getenv_now("TERM");
	int saved = errno;
	bool wants = eddyi_isatty_now(fd) && !(no_color && *no_color) &&
		     !(term && strcmp(term, "dumb") == 0);

	errno = saved;
	return wants;
}

static eddy_log_fn *log_text(void **ret_arg)
{
	static char coloured;

	*ret_arg = eddyi_log_wants_colour(STDERR_FILENO) ? &coloured : NULL;
	return write_line;
}

int eddy_log_text_subscribe(void)
{
	void *arg;
	eddy_log_fn *fn = log_text(&arg);

	return eddy_log_subscribe(fn, arg);
}

/* ---- emitting ---- */

#define MESSAGE_MAX (2 * EDDY_KIB)
#define CUT "…"
#define LAZY_MAX 8

/* Guards the subscriber. Emitting threads hold it for reading while they call the subscriber, so
 * that it is not removed during a call. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static eddy_log_fn *subscriber;
static void *subscriber_arg;
/* `subscriber` is log_text()'s, which any other one replaces. */
static bool has_stand_in, stands_in;
static struct eddyi_log_filter filter;

/* Set while this thread is in the subscriber. */
static _Thread_local bool inside;

/* Written with `lock` held for writing. */
int eddyi_log_level;

const char *eddy_log_level_name(enum eddy_log_level level)
{
	static const char *const names[] = { "OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE" };

	return names[level];
}

static void set_filter(const char *text)
{
	eddyi_log_filter_parse(&filter, text);
	__atomic_store_n(&eddyi_log_level, (int)filter.level, __ATOMIC_RELAXED);
}

/* Emit a record about invalid parts of the filter, bypassing the filter. Lock held. */
static void tell_of_bad_parts(const char *where)
{
	char text[sizeof(filter.bad) + 128];
	struct eddy_record record = {
		.time_ns = eddyi_clock(CLOCK_REALTIME),
		.level = EDDY_LOG_WARN,
		.target = "eddy::log",
	};
	int len = snprintf(text, sizeof(text),
			   "%s: invalid parts are ignored: %s; write LEVEL or TARGET=LEVEL", where,
			   filter.bad);

	record.message = eddy_str(text, (size_t)len);
	inside = true;
	subscriber(&record, subscriber_arg);
	inside = false;
}

/* With the lock, without a subscriber. */
static void stand_in(void)
{
	const char *text = eddyi_getenv_now("EDDY_LOG");

	stands_in = true;
	subscriber = log_text(&subscriber_arg);
	set_filter(text && *text ? text : "warn");
}

void eddyi_log_stand_in(void)
{
	pthread_rwlock_wrlock(&lock);
	has_stand_in = true;
	if (!subscriber)
		stand_in();
	pthread_rwlock_unlock(&lock);
}

int eddy_log_subscribe(eddy_log_fn *fn, void *arg)
{
	int r = -EBUSY;

	pthread_rwlock_wrlock(&lock);
	if (!subscriber || stands_in) {
		r = 0;
		stands_in = false;
		subscriber = fn;
		subscriber_arg = arg;
		set_filter(eddyi_getenv_now("EDDY_LOG"));
		if (filter.bad[0])
			tell_of_bad_parts("EDDY_LOG");
	}
	pthread_rwlock_unlock(&lock);
	return r;
}

void eddy_log_unsubscribe(void)
{
	pthread_rwlock_wrlock(&lock);
	subscriber = NULL;
	__atomic_store_n(&eddyi_log_level, EDDY_LOG_OFF, __ATOMIC_RELAXED);
	if (has_stand_in)
		stand_in();
	pthread_rwlock_unlock(&lock);
}

int eddy_log_set_filter(const char *text)
{
	int r = -ENOENT;

	pthread_rwlock_wrlock(&lock);
	if (subscriber && !stands_in) {
		set_filter(text);
		r = filter.bad[0] ? -EINVAL : 0;
	}
	pthread_rwlock_unlock(&lock);
	return r;
}

/* Take the lock for reading if the record is enabled. */
static bool begin(enum eddy_log_level level, const char *target)
{
	if (inside || (int)level > __atomic_load_n(&eddyi_log_level, __ATOMIC_RELAXED))
		return false;
	pthread_rwlock_rdlock(&lock);
	if (subscriber && eddyi_log_filter_lets(&filter, level, target))
		return true;
	pthread_rwlock_unlock(&lock);
	return false;
}

bool eddy_log_is_enabled(enum eddy_log_level level, const char *target)
{
	if (!begin(level, target))
		return false;
	pthread_rwlock_unlock(&lock);
	return true;
}

static bool has_field(const struct eddy_record *record, const char *name)
{
	for (size_t i = 0; i < record->field_count; i++) {
		const char *other = record->fields[i].name;

		if (other == name || (other[0] == name[0] && strcmp(other, name) == 0))
			return true;
	}
	return false;
}

/* Storage for a record while it is emitted. */
struct gathered {
	struct eddy_field fields[EDDY_LOG_FIELDS_MAX];
	char lazy[LAZY_MAX][EDDY_FIELD_LAZY_MAX];
	size_t lazy_count;
};

static void add_field(struct eddy_record *record, struct gathered *all,
		      const struct eddy_field *field)
{
	if (record->field_count == EDDY_LOG_FIELDS_MAX || has_field(record, field->name))
		return;
	if (field->type != EDDY_FIELD_LAZY) {
		all->fields[record->field_count++] = *field;
	} else if (all->lazy_count < LAZY_MAX) {
		char *text = all->lazy[all->lazy_count++];
		size_t len = field->value.lazy.write(field->value.lazy.data, text);

		all->fields[record->field_count++] =
			eddy_field_str(field->name, eddy_str(text, len));
	}
}

static void add_fields(struct eddy_record *record, struct gathered *all,
		       const struct eddy_field *fields)
{
	for (; fields && fields->name; fields++)
		add_field(record, all, fields);
}

/* Shorten `text`, MESSAGE_MAX bytes of a longer message. Return: its length. */
static size_t cut(char *text)
{
	size_t at = MESSAGE_MAX - sizeof(CUT);

	/* Not within a UTF-8 character. */
	while (at && (text[at] & 0xc0) == 0x80)
		at--;
	memcpy(text + at, CUT, sizeof(CUT));
	return at + sizeof(CUT) - 1;
}

static size_t format_message(char *text, const char *format, va_list args)
{
	int len = vsnprintf(text, MESSAGE_MAX, format, args);

	if (len < 0)
		return 0;
	return (size_t)len < MESSAGE_MAX ? (size_t)len : cut(text);
}

/* Complete the record and call the subscriber. Lock held; it is released. */
static void emit(struct eddy_record *record, const struct eddy_field *fields)
{
	struct gathered all;

	record->time_ns = eddyi_clock(CLOCK_REALTIME);
	record->fields = all.fields;
	all.lazy_count = 0;
	add_fields(record, &all, fields);
	for (const struct eddy_scope *scope = eddyi_scope_self(); scope; scope = scope->parent)
		add_fields(record, &all, scope->log_fields);
	inside = true;
	subscriber(record, subscriber_arg);
	inside = false;
	pthread_rwlock_unlock(&lock);
}

void eddyi_log(enum eddy_log_level level, const char *target, const struct eddy_field *fields,
	       const char *format, ...)
{
	struct eddy_record record = { .level = level, .target = target };
	char text[MESSAGE_MAX];
	int saved = errno;
	va_list args;

	if (!begin(level, target))
		return;
	errno = saved; /* for %m */
	va_start(args, format);
	record.message = eddy_str(text, format_message(text, format, args));
	va_end(args);
	emit(&record, fields);
	errno = saved;
}

void eddyi_log_message(enum eddy_log_level level, const char *target,
		       const struct eddy_field *fields, struct eddy_str message)
{
	struct eddy_record record = { .level = level, .target = target, .message = message };
	char text[MESSAGE_MAX];
	int saved = errno;

	if (!begin(level, target))
		return;
	if (message.len >= MESSAGE_MAX) {
		memcpy(text, message.ptr, MESSAGE_MAX);
		record.message = eddy_str(text, cut(text));
	}
	emit(&record, fields);
	errno = saved;
}

static bool is_subscribed(void)
{
	bool r = inside;

	if (!r) {
		pthread_rwlock_rdlock(&lock);
		r = subscriber;
		pthread_rwlock_unlock(&lock);
	}
	return r;
}

void eddyi_log_failure(const char *target, const char *format, ...)
{
	struct eddy_record record = { .level = EDDY_LOG_ERROR, .target = target };
	char text[MESSAGE_MAX];
	eddy_log_fn *fn;
	va_list args;
	void *arg;

	va_start(args, format);
	record.message = eddy_str(text, format_message(text, format, args));
	va_end(args);
	if (begin(record.level, target)) {
		emit(&record, NULL);
	} else if (!is_subscribed()) {
		record.time_ns = eddyi_clock(CLOCK_REALTIME);
		fn = log_text(&arg);
		fn(&record, arg);
	}
}
