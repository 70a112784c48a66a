/* eddy/internal/text.h: text for log records, JSON and tokens; for eddy's own layers. */
#ifndef EDDY_INTERNAL_TEXT_H
#define EDDY_INTERNAL_TEXT_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* Count the leading printable ASCII bytes that no string syntax escapes: no '"', no '\\'. */
EDDY_API size_t eddyi_str_plain_len(struct eddy_str str);

/* Count the bytes of the UTF-8 character at the front (RFC 3629). Return: 0 if there is none. */
EDDY_API size_t eddyi_str_utf8_len(struct eddy_str str);

/* Format a double as in JSON, with a NUL, and with as few digits as identify it; the point is
 * independent of the locale. Values that JSON lacks: NaN, Infinity, -Infinity. Return: its
 * length. */
#define EDDYI_F64_SIZE 40
EDDY_API size_t eddyi_f64_format(double value, char text[EDDYI_F64_SIZE]);

/* Text in a buffer of fixed size: `{ .at = buffer, .end = buffer + size }`. If a piece does not fit,
 * `full` is set, and nothing more is written. */
struct eddyi_text {
	char *at;
	char *end;
	bool full;
};

static inline void eddyi_text_put(struct eddyi_text *text, const char *ptr, size_t len)
{
	if (text->full || len > (size_t)(text->end - text->at)) {
		text->full = true;
		return;
	}
	memcpy(text->at, ptr, len);
	text->at += len;
}

/* Write a string as it is. */
static inline __attribute__((always_inline)) void eddyi_text(struct eddyi_text *text, const char *z)
{
	eddyi_text_put(text, z, strlen(z));
}

/* Write as many bytes of `str` as fit. */
EDDY_API void eddyi_text_some(struct eddyi_text *text, struct eddy_str str);

EDDY_API void eddyi_text_u64(struct eddyi_text *text, uint64_t value);
EDDY_API void eddyi_text_i64(struct eddyi_text *text, int64_t value);

/* Write a double as eddyi_f64_format() does. */
EDDY_API void eddyi_text_f64(struct eddyi_text *text, double value);

/* Write a JSON string with its quotes; invalid UTF-8 becomes U+FFFD. A byte takes six at most. If
 * the string does not fit, it is cut, ends with "…", and `full` is set. */
EDDY_API void eddyi_text_json_str(struct eddyi_text *text, struct eddy_str str);

EDDY_END_DECLS

#endif
