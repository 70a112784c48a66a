/* eddy/log.h: records of what happens, for whoever subscribes to them. The library never prints.
 *
 *     eddy_log_text_subscribe();
 *     eddy_info("shop::cart", "%u articles sold", count);
 *     eddy_log(EDDY_LOG_WARN, "shop::cart",
 *              EDDY_FIELDS(eddy_field_text("user", name), eddy_field_u64("articles", count)),
 *              "out of stock");
 *
 * A target says where a record comes from, from coarse to fine: "shop::cart". The environment
 * variable EDDY_LOG filters by it: a list of LEVEL and TARGET=LEVEL, such as
 * "info,shop::cart=trace,eddy=off", where the longest target that covers a record's decides. Unset or
 * empty, it means "info"; else records that no part covers are dropped.
 *
 * A record that nobody wants costs one load: neither its text nor its fields are evaluated. All of
 * it may be called from any thread; `errno` is preserved.
 */
#ifndef EDDY_LOG_H
#define EDDY_LOG_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

enum eddy_log_level {
	EDDY_LOG_OFF, /* of filters only */
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
	EDDY_FIELD_LAZY, /* a string that is written once a record wants it; subscribers see EDDY_FIELD_STR */
};

/* No lazy field is longer; of more than 8 of a record the others are left out. */
#define EDDY_FIELD_LAZY_MAX 64

/* Write the value of a lazy field, without a NUL. Called by the thread that emits a record; must not suspend,
 * nor emit records. Return: its length. */
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

/* How many fields a record can have, those of the scopes around it included. */
#define EDDY_LOG_FIELDS_MAX 32

struct eddy_record {
	uint64_t time_ns; /* the realtime clock */
	enum eddy_log_level level;
	const char *target;
	struct eddy_str message;         /* at most 2 KiB; "…" at its end says that it was cut */
	const struct eddy_field *fields; /* its own, then those of the scopes around it, the innermost
	                                    first; no name twice */
	size_t field_count;
};

/* Take note of a record, which is borrowed for the call. Called on the stack and thread of whoever
 * emits it, by several threads at once; must not suspend, nor subscribe or unsubscribe. Records
 * that it emits itself are dropped. */
typedef void eddy_log_fn(const struct eddy_record *record, void *arg);

/* Hand every record that the filter lets through to `fn(record, arg)`. The filter is read from
 * EDDY_LOG; parts of it that are not understood are told in one WARN record of target "eddy::log".
 * Return: 0, -EBUSY when there is a subscriber: there is one at a time. */
EDDY_API int eddy_log_subscribe(eddy_log_fn *fn, void *arg);

/* Stop. When this returns, the subscriber is not called again and runs in no thread. Does nothing
 * without a subscriber. */
EDDY_API void eddy_log_unsubscribe(void);

/* Whether text that goes there is to be coloured: it is a terminal, TERM is not "dumb", and NO_COLOR is unset
 * or empty. */
EDDY_API bool eddy_log_wants_colour(int fd);

/* Subscribe with plain text on stderr: one line a record, written at once, and coloured if wanted. Control
 * characters are shown as escapes: a record is one line whatever it says.
 * Return: 0, -EBUSY. */
EDDY_API int eddy_log_text_subscribe(void);

/* No line is longer: what a pipe takes in one piece. */
#define EDDY_LOG_LINE_MAX 4096

/* Write a time of a record, "2026-11-22T08:05:03.586387Z", and a NUL. */
#define EDDY_LOG_TIME_SIZE 28
EDDY_API void eddy_log_format_time(uint64_t time_ns, char text[EDDY_LOG_TIME_SIZE]);

/* Write a record as that line, its newline included and without a NUL; `colour` for a terminal. What does
 * not fit is cut, and "…" says so. Return: its length. */
EDDY_API size_t eddy_log_format_text(const struct eddy_record *record, bool colour,
				     char line[EDDY_LOG_LINE_MAX]);

/* Replace the subscriber's filter, until the next one subscribes; `filter` is written as in
 * EDDY_LOG.
 * Return: 0; -EINVAL when parts are not understood, the others hold; -ENOENT without a subscriber. */
EDDY_API int eddy_log_set_filter(const char *filter);

/* Whether a record of this level and target has a subscriber: for what is costly to prepare. */
EDDY_API bool eddy_log_is_enabled(enum eddy_log_level level, const char *target);

/* "ERROR", "WARN", "INFO", "DEBUG", "TRACE". */
EDDY_API const char *eddy_log_level_name(enum eddy_log_level level);

/* A field of each type. `name` and a string are borrowed. */
static inline struct eddy_field eddy_field_str(const char *name, struct eddy_str value)
{
	struct eddy_field field = { name, EDDY_FIELD_STR, { value } };

	return field;
}

/* NULL is the empty string. */
static inline struct eddy_field eddy_field_text(const char *name, const char *value)
{
	return eddy_field_str(name, eddy_str_from(value));
}

/* A signed integer. */
static inline struct eddy_field eddy_field_i64(const char *name, int64_t value)
{
	struct eddy_field field = { name, EDDY_FIELD_I64, { { NULL, 0 } } };

	field.value.i64 = value;
	return field;
}

/* An unsigned integer. */
static inline struct eddy_field eddy_field_u64(const char *name, uint64_t value)
{
	struct eddy_field field = { name, EDDY_FIELD_U64, { { NULL, 0 } } };

	field.value.u64 = value;
	return field;
}

/* A floating-point number. */
static inline struct eddy_field eddy_field_f64(const char *name, double value)
{
	struct eddy_field field = { name, EDDY_FIELD_F64, { { NULL, 0 } } };

	field.value.f64 = value;
	return field;
}

/* True or false. */
static inline struct eddy_field eddy_field_bool(const char *name, bool value)
{
	struct eddy_field field = { name, EDDY_FIELD_BOOL, { { NULL, 0 } } };

	field.value.flag = value;
	return field;
}

/* Text that `write` writes from `data`, which is borrowed as well, once a record wants it. */
static inline struct eddy_field eddy_field_lazy(const char *name, eddy_field_write_fn *write,
						const void *data)
{
	struct eddy_field field = { name, EDDY_FIELD_LAZY, { { NULL, 0 } } };

	field.value.lazy.write = write;
	field.value.lazy.data = data;
	return field;
}

/* A list of fields for eddy_log(), and for the options of a scope. Lives as long as the block. C alone
 * has it: from C++ give an array that ends with a field whose name is NULL. */
#define EDDY_FIELDS(...) ((const struct eddy_field[]){ __VA_ARGS__, { .name = NULL } })

/* Private: the highest level that anybody wants. */
extern EDDY_API int eddyi_log_level;

/* Private: use eddy_log(). */
EDDY_API EDDY_PRINTF(4, 5) void eddyi_log(enum eddy_log_level level, const char *target,
					  const struct eddy_field *fields, const char *format, ...);

/* Emit a record whose message is ready, which saves the formatting; a longer one than 2 KiB is cut. */
EDDY_API void eddy_log_message(enum eddy_log_level level, const char *target,
			       const struct eddy_field *fields, struct eddy_str message);

/* Emit a record: eddy_log(level, target, fields, format, …). `fields` is EDDY_FIELDS() or NULL. */
#define eddy_log(level, target, fields, ...)                                                       \
	do {                                                                                       \
		if (__builtin_expect((int)(level) <=                                               \
					     __atomic_load_n(&eddyi_log_level, __ATOMIC_RELAXED),  \
				     0))                                                           \
			eddyi_log(level, target, fields, __VA_ARGS__);                             \
	} while (0)

/* Emit a record without fields: eddy_info(target, format, …). */
#define eddy_error(target, ...) eddy_log(EDDY_LOG_ERROR, target, NULL, __VA_ARGS__)
#define eddy_warn(target, ...) eddy_log(EDDY_LOG_WARN, target, NULL, __VA_ARGS__)
#define eddy_info(target, ...) eddy_log(EDDY_LOG_INFO, target, NULL, __VA_ARGS__)
#define eddy_debug(target, ...) eddy_log(EDDY_LOG_DEBUG, target, NULL, __VA_ARGS__)
#define eddy_trace(target, ...) eddy_log(EDDY_LOG_TRACE, target, NULL, __VA_ARGS__)

EDDY_END_DECLS

#endif
