#include <eddy/internal/log.h>
#include <eddy/internal/outside.h>
#include <eddy/log.h>

#include "log_filter.h"
#include "log_stand_in.h"
#include "core/loop.h"
#include "core/scope.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MESSAGE_MAX (2 * EDDY_KIB)
#define CUT "…"
#define LAZY_MAX 8

/* Guards the subscriber. Emitting threads hold it for reading while they call the subscriber, so
 * that it is not removed during a call. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static eddy_log_fn *subscriber;
static void *subscriber_arg;
/* `subscriber` is eddyi_log_text()'s, which any other one replaces. */
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
	subscriber = eddyi_log_text(&subscriber_arg);
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
		fn = eddyi_log_text(&arg);
		fn(&record, arg);
	}
}
