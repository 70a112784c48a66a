/* eddy/internal/text.h: text conversion in both directions (numbers, hexadecimal, percent escapes,
 * UTF-8), and text in a buffer of fixed size; for eddy's own layers. */
#ifndef EDDY_INTERNAL_TEXT_H
#define EDDY_INTERNAL_TEXT_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* ---- characters ---- */

/* Count the leading printable ASCII bytes that no string syntax escapes: no '"', no '\\'. */
EDDY_API size_t eddyi_str_plain_len(struct eddy_str str);

/* Count the bytes of the UTF-8 character at the front (RFC 3629). Return: 0 if there is none. */
EDDY_API size_t eddyi_str_utf8_len(struct eddy_str str);

/* Check whether all of a string is UTF-8. */
EDDY_API bool eddyi_str_is_utf8(struct eddy_str str);

/* ---- numbers ---- */

/* Format a signed number in decimal, with a NUL. Return: its length. */
#define EDDYI_I64_SIZE (1 + EDDY_U64_SIZE)
EDDY_API size_t eddyi_i64_format(int64_t value, char text[EDDYI_I64_SIZE]);

/* Format a double as in JSON, with a NUL, and with as few digits as identify it; the point is
 * independent of the locale. Values that JSON lacks: NaN, Infinity, -Infinity. Return: its
 * length. */
#define EDDYI_F64_SIZE 40
EDDY_API size_t eddyi_f64_format(double value, char text[EDDYI_F64_SIZE]);

/* Get `digits` times a power of ten, correctly rounded. Return: false, and no value, for more than
 * 2^53 digits or an exponent beyond 22. */
EDDY_API bool eddyi_f64_scale(uint64_t digits, int exponent, double *ret_value);

/* Parse a double as strtod(3) does, independent of the locale. */
EDDY_API double eddyi_f64_parse(const char *text, char **ret_end);

/* ---- hexadecimal and percent escapes ---- */

/* Get the value of a hexadecimal digit. Return: -1 for any other byte. */
static inline int eddyi_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Format a number in lower-case hexadecimal, without leading zeros, with a NUL.
 * Return: its length. */
#define EDDYI_HEX_SIZE 17
EDDY_API size_t eddyi_u64_format_hex(uint64_t value, char text[EDDYI_HEX_SIZE]);

/* Format bytes as two lower-case digits each, without a NUL. Return: the end of the text. */
EDDY_API char *eddyi_hex_format(const void *bytes, size_t len, char *text);

/* Decode the percent escape at index `at` (RFC 3986 section 2.1). Return: the byte, or -1. */
EDDY_API int eddyi_percent_at(struct eddy_str str, size_t at);

/* Write a byte as a percent escape, three characters. Return: the end of the text. */
EDDY_API char *eddyi_percent_put(char *text, char byte);

/* Write bytes, all but letters, digits and those of `plain` as percent escapes; without a NUL.
 * Return: the end of the text. */
EDDY_API char *eddyi_percent_encode(char *text, struct eddy_str bytes, const char *plain);

/* ---- text in a buffer ---- */

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

/* Write a string; each character that is not plain (eddyi_str_plain_len()) is written by
 * `escape(text, character)`. An invalid byte is a character without a length. */
EDDY_API void eddyi_text_escaped(struct eddyi_text *text, struct eddy_str str,
				 void (*escape)(struct eddyi_text *text,
						struct eddy_str character));

EDDY_API void eddyi_text_u64(struct eddyi_text *text, uint64_t value);
EDDY_API void eddyi_text_i64(struct eddyi_text *text, int64_t value);

/* Write a double as eddyi_f64_format() does. */
EDDY_API void eddyi_text_f64(struct eddyi_text *text, double value);

EDDY_END_DECLS

#endif
