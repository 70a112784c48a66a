/* eddy/log.h: structured log records, passed to a subscriber. The library itself never prints.
 *
 *     eddy_log_text_subscribe();
 *     eddy_info("shop::cart", "%u articles sold", count);
 *     eddy_log(EDDY_LOG_WARN, "shop::cart",
 *              EDDY_FIELDS(eddy_field_text("user", name), eddy_field_u64("articles", count)),
 *              "out of stock");
 *
 * A target says where a record comes from, from coarse to fine: "shop::cart". The environment
 * variable EDDY_LOG sets the log level of targets: a list of LEVEL and TARGET=LEVEL, such as
 * "info,shop::cart=trace,eddy=off", where the longest TARGET that covers a record's target decides:
 * "shop" covers "shop::cart". Records that no part covers are dropped. Unset or empty, it means
 * "info".
 *
 * A record above all levels in the filter costs one load: neither its text nor its fields are
 * evaluated. Any thread may call these functions; `errno` is preserved.
 */
#ifndef EDDY_LOG_H
#define EDDY_LOG_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

enum eddy_log_level {
	EDDY_LOG_OFF, /* for filters only */
	EDDY_LOG_ERROR,
	EDDY_LOG_WARN,
	EDDY_LOG_INFO,
	EDDY_LOG_DEBUG,
	EDDY_LOG_TRACE,
};

enum eddy_field_type {
	EDDY_FIELD_STR,
	EDDY_FIELD_I64,
	EDDY_FIELD_U64,
	EDDY_FIELD_F64,
	EDDY_FIELD_BOOL,
	EDDY_FIELD_LAZY, /* written only if emitted; the subscriber gets EDDY_FIELD_STR */
};

/* Size limit of a lazy field in bytes. A record may have 8 of them; further ones are left out. */
#define EDDY_FIELD_LAZY_MAX 64

/* Write the value of a lazy field, without a NUL. Called by the thread that emits the record; must
 * not suspend or emit records. Return: its length. */
typedef size_t eddy_field_write_fn(const void *data, char text[EDDY_FIELD_LAZY_MAX]);

/* A named value; all of it borrowed. A `name` of NULL ends a list of fields. */
struct eddy_field {
	const char *name;
	enum eddy_field_type type;
	union {
		struct eddy_str str;
		int64_t i64;
		uint64_t u64;
		double f64;
		bool flag;
		struct {
			eddy_field_write_fn *write;
			const void *data;
		} lazy;
	} value;
};

/* The most fields of a record, those of the enclosing scopes included. */
#define EDDY_LOG_FIELDS_MAX 32

struct eddy_record {
	uint64_t time_ns; /* the realtime clock */
	enum eddy_log_level level;
	const char *target;
	struct eddy_str message; /* at most 2 KiB; ends with "…" if it was cut */
	/* The record's own, then those of the enclosing scopes, innermost first; no name twice. */
	const struct eddy_field *fields;
	size_t field_count;
};

/* Handle a log record, which is borrowed for the call. Called on the thread and stack of the code
 * that emits it, by several threads at once. Must not suspend, subscribe or unsubscribe. Records
 * that it emits itself are dropped. */
typedef void eddy_log_fn(const struct eddy_record *record, void *arg);

/* Pass every record that the filter accepts to `fn(record, arg)`. The filter is read from EDDY_LOG;
 * one WARN record of target "eddy::log" reports the parts that are invalid.
 * Return: 0; -EBUSY if there is a subscriber: only one is allowed at a time. */
EDDY_API int eddy_log_subscribe(eddy_log_fn *fn, void *arg);

/* Remove the subscriber. When this returns, it runs in no thread and is not called again. Does
 * nothing without a subscriber. */
EDDY_API void eddy_log_unsubscribe(void);

/* Subscribe with plain text on stderr: one line a record, written with one call, and coloured on a
 * terminal (docs/log.md). Control characters are escaped, so that a record is always one line.
 * Return: 0; -EBUSY if there is a subscriber. */
EDDY_API int eddy_log_text_subscribe(void);

/* The most bytes of a line: what a pipe accepts atomically. */
#define EDDY_LOG_LINE_MAX 4096

/* Format a record as a line of text, with its newline and without a NUL; `colour` is for a
 * terminal. Text that does not fit is cut and ends with "…". Return: its length. */
EDDY_API size_t eddy_log_format_text(const struct eddy_record *record, bool colour,
				     char line[EDDY_LOG_LINE_MAX]);

/* Replace the filter, until the next eddy_log_subscribe(). `filter` is written as in EDDY_LOG.
 * Return: 0; -EINVAL if parts are invalid: the valid parts apply; -ENOENT without a subscriber. */
EDDY_API int eddy_log_set_filter(const char *filter);

/* Check whether a record would be emitted, before preparing costly data. */
EDDY_API bool eddy_log_is_enabled(enum eddy_log_level level, const char *target);

/* Get the name of a level: "ERROR", "WARN", "INFO", "DEBUG" or "TRACE". */
EDDY_API const char *eddy_log_level_name(enum eddy_log_level level);

/* Make a field with a string. `name` and `value` are borrowed, also in the functions below. */
static inline struct eddy_field eddy_field_str(const char *name, struct eddy_str value)
{
	struct eddy_field field = { name, EDDY_FIELD_STR, { value } };

	return field;
}

/* Make a field with a NUL-terminated string. NULL is the empty string. */
static inline struct eddy_field eddy_field_text(const char *name, const char *value)
{
	return eddy_field_str(name, eddy_str_from(value));
}

/* Make a field with a signed integer. */
static inline struct eddy_field eddy_field_i64(const char *name, int64_t value)
{
	struct eddy_field field = { name, EDDY_FIELD_I64, { { NULL, 0 } } };

	field.value.i64 = value;
	return field;
}

/* Make a field with an unsigned integer. */
static inline struct eddy_field eddy_field_u64(const char *name, uint64_t value)
{
	struct eddy_field field = { name, EDDY_FIELD_U64, { { NULL, 0 } } };

	field.value.u64 = value;
	return field;
}

/* Make a field with a floating-point number. */
static inline struct eddy_field eddy_field_f64(const char *name, double value)
{
	struct eddy_field field = { name, EDDY_FIELD_F64, { { NULL, 0 } } };

	field.value.f64 = value;
	return field;
}

/* Make a field with a boolean. */
static inline struct eddy_field eddy_field_bool(const char *name, bool value)
{
	struct eddy_field field = { name, EDDY_FIELD_BOOL, { { NULL, 0 } } };

	field.value.flag = value;
	return field;
}

/* Make a field that `write` writes from `data` if the record is emitted. `data` is borrowed. */
static inline struct eddy_field eddy_field_lazy(const char *name, eddy_field_write_fn *write,
						const void *data)
{
	struct eddy_field field = { name, EDDY_FIELD_LAZY, { { NULL, 0 } } };

	field.value.lazy.write = write;
	field.value.lazy.data = data;
	return field;
}

/* Make a list of fields for eddy_log(), or for the options of a scope. It lives as long as the
 * enclosing block. Not available in C++: pass an array that ends with a NULL name. */
#define EDDY_FIELDS(...) ((const struct eddy_field[]){ __VA_ARGS__, { .name = NULL } })

/* Private. The highest level that the filter accepts. */
extern EDDY_API int eddyi_log_level;

/* Private. Use eddy_log(). */
EDDY_API EDDY_PRINTF(4, 5) void eddyi_log(enum eddy_log_level level, const char *target,
					  const struct eddy_field *fields, const char *format, ...);

/* Emit a log record: eddy_log(level, target, fields, format, …). `fields` may be NULL. */
#define eddy_log(level, target, fields, ...)                                                       \
	do {                                                                                       \
		if (__builtin_expect((int)(level) <=                                               \
					     __atomic_load_n(&eddyi_log_level, __ATOMIC_RELAXED),  \
				     0))                                                           \
			eddyi_log(level, target, fields, __VA_ARGS__);                             \
	} while (0)

/* Emit a log record without fields: eddy_info(target, format, …). */
#define eddy_error(target, ...) eddy_log(EDDY_LOG_ERROR, target, NULL, __VA_ARGS__)
#define eddy_warn(target, ...) eddy_log(EDDY_LOG_WARN, target, NULL, __VA_ARGS__)
#define eddy_info(target, ...) eddy_log(EDDY_LOG_INFO, target, NULL, __VA_ARGS__)
#define eddy_debug(target, ...) eddy_log(EDDY_LOG_DEBUG, target, NULL, __VA_ARGS__)
#define eddy_trace(target, ...) eddy_log(EDDY_LOG_TRACE, target, NULL, __VA_ARGS__)

EDDY_END_DECLS

#endif
