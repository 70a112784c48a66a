#include <eddy/internal/text.h>
#include <eddy/str.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

bool eddy_str_eq_nocase(struct eddy_str a, struct eddy_str b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (lower(a.ptr[i]) != lower(b.ptr[i]))
			return false;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct eddy_str eddy_str_trim(struct eddy_str str)
{
	while (str.len && is_blank(str.ptr[0]))
		str = eddy_str_skip(str, 1);
	while (str.len && is_blank(str.ptr[str.len - 1]))
		str.len--;
	return str;
}

bool eddy_str_split(struct eddy_str *rest, char separator, struct eddy_str *ret_piece)
{
	const char *at;

	if (!rest->ptr)
		return false;
	at = rest->len ? memchr(rest->ptr, separator, rest->len) : NULL;
	if (at) {
		*ret_piece = eddy_str(rest->ptr, at - rest->ptr);
		*rest = eddy_str_skip(*rest, ret_piece->len + 1);
	} else {
		*ret_piece = *rest;
		*rest = eddy_str(NULL, 0);
	}
	return true;
}

int eddy_str_to_u64(struct eddy_str str, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (!str.len)
		return -EINVAL;
	for (size_t i = 0; i < str.len; i++) {
		if (str.ptr[i] < '0' || str.ptr[i] > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(str.ptr[i] - '0'), &value))
			return -ERANGE;
	}
	*ret_value = value;
	return 0;
}

/* Bytes that are no digit, sign or exponent form the locale's decimal point. */
static size_t put_point(char *text)
{
	size_t len = 0;

	for (const char *from = text; *from; from++) {
		if (strchr("0123456789+-e", *from))
			text[len++] = *from;
		else if (!memchr(text, '.', len))
			text[len++] = '.';
	}
	text[len] = 0;
	return len;
}

size_t eddyi_f64_format(double value, char text[EDDYI_F64_SIZE])
{
	if (!isfinite(value)) {
		strcpy(text, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
		return strlen(text);
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, EDDYI_F64_SIZE, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return put_point(text);
}

size_t eddy_u64_format(uint64_t value, char text[EDDY_U64_SIZE])
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233"
		"34353637383940414243444546474849505152535455565758596061626364656667"
		"6869707172737475767778798081828384858687888990919293949596979899";
	char digits[EDDY_U64_SIZE], *at = digits + sizeof(digits);
	size_t len;

	while (value >= 100) {
		at -= 2;
		memcpy(at, &pairs[value % 100 * 2], 2);
		value /= 100;
	}
	at -= 2;
	memcpy(at, &pairs[value * 2], 2);
	at += value < 10;
	len = (size_t)(digits + sizeof(digits) - at);
	memcpy(text, at, len);
	text[len] = 0;
	return len;
}

/* Set the high bit of each byte that is zero; rarely also of the byte above a zero. */
static uint64_t zeros(uint64_t bytes)
{
	return (bytes - 0x0101010101010101) & ~bytes & 0x8080808080808080;
}

/* Whether eight bytes are certainly plain. */
static bool are_plain(const char *ptr)
{
	uint64_t bytes;

	memcpy(&bytes, ptr, sizeof(bytes));
	return !((bytes & 0x8080808080808080) | zeros(bytes & 0xe0e0e0e0e0e0e0e0) |
		 zeros(bytes ^ 0x2222222222222222) | zeros(bytes ^ 0x5c5c5c5c5c5c5c5c) |
		 zeros(bytes ^ 0x7f7f7f7f7f7f7f7f));
}

size_t eddyi_str_plain_len(struct eddy_str str)
{
	static const bool plain[256] = {
		[' ' ... '!'] = true,
		['#' ... '['] = true,
		[']' ... '~'] = true,
	};
	size_t len = 0;

	while (str.len - len >= 8 && are_plain(str.ptr + len))
		len += 8;
	while (len < str.len && plain[(unsigned char)str.ptr[len]])
		len++;
	return len;
}

size_t eddyi_str_utf8_len(struct eddy_str str)
{
	const unsigned char *at = (const unsigned char *)str.ptr;
	size_t need;

	if (!str.len)
		return 0;
	need = at[0] < 0x80 ? 1 :
	       at[0] < 0xc2 ? 0 :
	       at[0] < 0xe0 ? 2 :
	       at[0] < 0xf0 ? 3 :
	       at[0] < 0xf5 ? 4 :
			      0;
	if (!need || need > str.len)
		return 0;
	for (size_t i = 1; i < need; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong, a surrogate, or beyond U+10FFFF. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90))
		return 0;
	return need;
}
