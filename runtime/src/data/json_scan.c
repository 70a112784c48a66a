#include "json_scan.h"

#include <eddy/internal/text.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

/* Longer real numbers are rejected. */
#define NUMBER_MAX 512

/* ---- errors ---- */

int eddyi_json_malformed_at(struct eddyi_json_scan *scan, const char *at, const char *reason)
{
	size_t line = 1, column = 1;

	for (const char *c = scan->begin; c < at; c++) {
		if (*c == '\n') {
			line++;
			column = 1;
		} else {
			column += (*c & 0xc0) != 0x80;
		}
	}
	snprintf(scan->why, EDDY_WHY_SIZE, "line %zu, column %zu: %s", line, column, reason);
	return -EBADMSG;
}

int eddyi_json_malformed(struct eddyi_json_scan *scan, const char *reason)
{
	return eddyi_json_malformed_at(scan, scan->at,
				       scan->at < scan->end ? reason : "the text ends early");
}

/* ---- tokens ---- */

static int hex4(struct eddyi_json_scan *scan, const char *at, unsigned *ret_code)
{
	unsigned code = 0;

	if (scan->end - at < 4)
		return eddyi_json_malformed_at(scan, at, "four hexadecimal digits are expected");
	for (int i = 0; i < 4; i++) {
		int digit = eddyi_hex_digit(at[i]);

		if (digit < 0)
			return eddyi_json_malformed_at(scan, at,
						       "four hexadecimal digits are expected");
		code = 16 * code + (unsigned)digit;
	}
	*ret_code = code;
	return 0;
}

/* Decode the escape of which `at` is the backslash. Return: its length; -EBADMSG. */
static int decode_escape(struct eddyi_json_scan *scan, const char *at, unsigned *ret_code)
{
	static const char named[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
	const char *found;
	unsigned low;
	int r;

	if (scan->end - at < 2)
		return eddyi_json_malformed_at(scan, at, "the text ends early");
	if (at[1] != 'u') {
		found = at[1] ? strchr(named, at[1]) : NULL;
		if (!found)
			return eddyi_json_malformed_at(scan, at, "the escape is unknown");
		*ret_code = (unsigned char)codes[found - named];
		return 2;
	}
	r = hex4(scan, at + 2, ret_code);
	if (r < 0)
		return r;
	if (!*ret_code)
		return eddyi_json_malformed_at(scan, at, "\\u0000 is not allowed");
	if (*ret_code < 0xd800 || *ret_code > 0xdfff)
		return 6;
	if (*ret_code > 0xdbff || scan->end - at < 12 || at[6] != '\\' || at[7] != 'u' ||
	    hex4(scan, at + 8, &low) < 0 || low < 0xdc00 || low > 0xdfff)
		return eddyi_json_malformed_at(scan, at, "half of a surrogate pair is missing");
	*ret_code = 0x10000 + ((*ret_code - 0xd800) << 10) + (low - 0xdc00);
	return 12;
}

static char *put_utf8(char *to, unsigned code)
{
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xe0 | code >> 12);
		} else {
			*to++ = (char)(0xf0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (code & 0x3f));
	return to;
}

int eddyi_json_scan_str(struct eddyi_json_scan *scan, struct eddy_str *ret_raw, bool *ret_escaped)
{
	const char *at = scan->at + 1, *end = scan->end;
	bool is_escaped = false;

	for (;;) {
		size_t len;
		unsigned code;
		int r;

		at += eddyi_str_plain_len(eddy_str(at, (size_t)(end - at)));
		if (at == end)
			return eddyi_json_malformed_at(scan, scan->at, "the string has no end");
		if (*at == '"')
			break;
		if (*at == '\\') {
			r = decode_escape(scan, at, &code);
			if (r < 0)
				return r;
			is_escaped = true;
			at += r;
			continue;
		}
		if ((unsigned char)*at < ' ')
			return eddyi_json_malformed_at(scan, at,
						       "a control character must have an escape");
		len = eddyi_str_utf8_len(eddy_str(at, (size_t)(end - at)));
		if (!len)
			return eddyi_json_malformed_at(scan, at, "the text is not UTF-8");
		at += len;
	}
	*ret_raw = eddy_str(scan->at + 1, (size_t)(at - scan->at) - 1);
	*ret_escaped = is_escaped;
	scan->at = at + 1;
	return 0;
}

size_t eddyi_json_scan_unescape(struct eddyi_json_scan *scan, struct eddy_str raw, char *to)
{
	const char *at = raw.ptr, *end = raw.ptr + raw.len;
	char *begin = to;

	while (at < end) {
		const char *escape = memchr(at, '\\', (size_t)(end - at));
		size_t len = (size_t)((escape ? escape : end) - at);
		unsigned code = 0;

		to = mempcpy(to, at, len);
		if (!escape)
			break;
		at = escape + decode_escape(scan, escape, &code);
		to = put_utf8(to, code);
	}
	return (size_t)(to - begin);
}

static inline bool is_digit(const struct eddyi_json_scan *scan, const char *at)
{
	return at < scan->end && *at >= '0' && *at <= '9';
}

static const char *scan_digits(struct eddyi_json_scan *scan, const char *at,
			       struct eddyi_json_number *number)
{
	for (; is_digit(scan, at); at++) {
		unsigned digit = (unsigned)(*at - '0');

		number->is_long |= __builtin_mul_overflow(number->digits, 10, &number->digits) ||
				   __builtin_add_overflow(number->digits, digit, &number->digits);
	}
	return at;
}

static int scan_exponent(struct eddyi_json_scan *scan, const char **at,
			 struct eddyi_json_number *number)
{
	bool is_negative = **at == '-';
	int exponent = 0;

	if (*at < scan->end && (**at == '-' || **at == '+'))
		++*at;
	if (!is_digit(scan, *at))
		return eddyi_json_malformed_at(scan, *at, "a digit is expected");
	for (; is_digit(scan, *at); ++*at)
		if (exponent < 100000)
			exponent = 10 * exponent + (**at - '0');
	number->exponent += is_negative ? -exponent : exponent;
	return 0;
}

int eddyi_json_scan_number(struct eddyi_json_scan *scan, struct eddyi_json_number *ret_number)
{
	const char *at = scan->at, *point;
	struct eddyi_json_number number = { .is_negative = *at == '-' };
	int r = 0;

	at += number.is_negative;
	if (!is_digit(scan, at))
		return eddyi_json_malformed_at(scan, at, "a digit is expected");
	if (*at == '0')
		at++;
	else
		at = scan_digits(scan, at, &number);
	if (at < scan->end && *at == '.') {
		number.is_real = true;
		point = ++at;
		if (!is_digit(scan, at))
			return eddyi_json_malformed_at(scan, at, "a digit is expected");
		at = scan_digits(scan, at, &number);
		number.exponent = (int)(point - at);
	}
	if (at < scan->end && (*at == 'e' || *at == 'E')) {
		number.is_real = true;
		at++;
		if (at == scan->end)
			return eddyi_json_malformed_at(scan, at, "the text ends early");
		r = scan_exponent(scan, &at, &number);
	}
	number.text = eddy_str(scan->at, (size_t)(at - scan->at));
	scan->at = at;
	*ret_number = number;
	return r;
}

int eddyi_json_scan_double(const struct eddyi_json_number *number, double *ret_value)
{
	char text[NUMBER_MAX + 1];
	double value;

	if (!number->is_long && eddyi_f64_scale(number->digits, number->exponent, &value)) {
		*ret_value = number->is_negative ? -value : value;
		return 0;
	}
	if (number->text.len > NUMBER_MAX)
		return -ERANGE;
	memcpy(text, number->text.ptr, number->text.len);
	text[number->text.len] = 0;
	*ret_value = eddyi_f64_parse(text, NULL);
	return isfinite(*ret_value) ? 0 : -ERANGE;
}

static int scan_word(struct eddyi_json_scan *scan, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, word, len) != 0)
		return eddyi_json_malformed(scan, "a value is expected");
	scan->at += len;
	return 0;
}

int eddyi_json_scan_count(struct eddyi_json_scan *scan)
{
	return scan->values_left-- ? 0 : -EMSGSIZE;
}

int eddyi_json_scan_enter(struct eddyi_json_scan *scan)
{
	char why[80];
	int r = eddyi_json_scan_count(scan);

	if (r < 0)
		return r;
	if (scan->depth == scan->depth_max) {
		snprintf(why, sizeof(why), "arrays and objects are nested more than %u deep",
			 scan->depth_max);
		return eddyi_json_malformed(scan, why);
	}
	scan->depth++;
	scan->at++;
	return 0;
}

void eddyi_json_scan_leave(struct eddyi_json_scan *scan)
{
	scan->depth--;
	scan->at++;
}

int eddyi_json_scan_name(struct eddyi_json_scan *scan, struct eddy_str *ret_raw, bool *ret_escaped)
{
	int r;

	if (eddyi_json_scan_next(scan) != '"')
		return eddyi_json_malformed(scan, "the name of a member is expected");
	r = eddyi_json_scan_str(scan, ret_raw, ret_escaped);
	if (r < 0)
		return r;
	if (eddyi_json_scan_next(scan) != ':')
		return eddyi_json_malformed(scan, "':' is expected");
	scan->at++;
	return 0;
}

/* ---- values that no member takes ---- */

static int skip_scalar(struct eddyi_json_scan *scan)
{
	struct eddyi_json_number number;
	struct eddy_str str;
	bool is_escaped;
	int r = eddyi_json_scan_count(scan);

	if (r < 0)
		return r;
	switch (eddyi_json_scan_next(scan)) {
	case '"':
		return eddyi_json_scan_str(scan, &str, &is_escaped);
	case 't':
		return scan_word(scan, "true");
	case 'f':
		return scan_word(scan, "false");
	case 'n':
		return scan_word(scan, "null");
	case '-':
	case '0' ... '9':
		return eddyi_json_scan_number(scan, &number);
	default:
		return eddyi_json_malformed(scan, "a value is expected");
	}
}

static int skip_name(struct eddyi_json_scan *scan)
{
	struct eddy_str name;
	bool is_escaped;

	return eddyi_json_scan_name(scan, &name, &is_escaped);
}

/* It is not recursive: a peer decides how deep the value is. */
int eddyi_json_scan_skip(struct eddyi_json_scan *scan)
{
	uint64_t objects[EDDYI_JSON_DEPTH_MOST / 64 + 1] = { 0 }; /* which levels are objects */
	unsigned outside = scan->depth;
	int r;

	for (;;) {
		char c = eddyi_json_scan_next(scan);

		if (c == '{' || c == '[') {
			uint64_t bit = 1ULL << (scan->depth % 64);
			uint64_t *word = &objects[scan->depth / 64];

			*word = c == '{' ? *word | bit : *word & ~bit;
			r = eddyi_json_scan_enter(scan);
			if (r < 0)
				return r;
			if (eddyi_json_scan_next(scan) != (c == '{' ? '}' : ']')) {
				r = c == '{' ? skip_name(scan) : 0;
				if (r < 0)
					return r;
				continue;
			}
			eddyi_json_scan_leave(scan);
		} else {
			r = skip_scalar(scan);
			if (r < 0)
				return r;
		}
		/* A value has ended. */
		while (scan->depth > outside) {
			unsigned level = scan->depth - 1;
			bool is_object = objects[level / 64] >> (level % 64) & 1;

			c = eddyi_json_scan_next(scan);
			if (c == ',') {
				scan->at++;
				r = is_object ? skip_name(scan) : 0;
				if (r < 0)
					return r;
				break;
			}
			if (c != (is_object ? '}' : ']'))
				return eddyi_json_malformed(scan, is_object ?
									  "',' or '}' is expected" :
									  "',' or ']' is expected");
			eddyi_json_scan_leave(scan);
		}
		if (scan->depth == outside)
			return 0;
	}
}
