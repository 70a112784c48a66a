/* Text conversion in both directions; also the numbers of eddy/str.h. */
#include <eddy/internal/text.h>

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- characters ---- */

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

bool eddyi_str_is_utf8(struct eddy_str str)
{
	size_t len;

	while ((len = eddyi_str_plain_len(str)) || (len = eddyi_str_utf8_len(str)))
		str = eddy_str_skip(str, len);
	return !str.len;
}

/* ---- numbers ---- */

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

/* Count the digits of a number: from its bits, by log10(2) as 1233 / 4096, which may be one
 * short. */
static size_t count_digits(uint64_t value)
{
	/* clang-format off */
	static const uint64_t powers[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000U,
	};
	/* clang-format on */
	size_t count = (64 - (size_t)__builtin_clzll(value | 1)) * 1233 >> 12;

	return count + (value >= powers[count]);
}

size_t eddy_u64_format(uint64_t value, char text[EDDY_U64_SIZE])
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233"
		"34353637383940414243444546474849505152535455565758596061626364656667"
		"6869707172737475767778798081828384858687888990919293949596979899";
	size_t len = count_digits(value);
	char *at = text + len;

	*at = 0;
	for (; value >= 100; value /= 100)
		at = memcpy(at - 2, &pairs[value % 100 * 2], 2);
	if (value >= 10)
		memcpy(text, &pairs[value * 2], 2);
	else
		*text = (char)('0' + value);
	return len;
}

size_t eddyi_i64_format(int64_t value, char text[EDDYI_I64_SIZE])
{
	if (value >= 0)
		return eddy_u64_format((uint64_t)value, text);
	*text = '-';
	return 1 + eddy_u64_format(-(uint64_t)value, text + 1);
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

static const double powers_of_ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
					1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

bool eddyi_f64_scale(uint64_t digits, int exponent, double *ret_value)
{
	if (digits > 1ULL << 53 || exponent < -22 || exponent > 22)
		return false;
	/* Both operands are exact, so their quotient or product is rounded once. */
	*ret_value = exponent < 0 ? (double)digits / powers_of_ten[-exponent] :
				    (double)digits * powers_of_ten[exponent];
	return true;
}

/* Format digits of which `fraction` are behind the point. */
static size_t put_decimal(uint64_t digits, size_t fraction, char *text)
{
	size_t len = count_digits(digits), zeros = len > fraction ? 0 : fraction + 1 - len;

	memset(text, '0', zeros);
	len = zeros + eddy_u64_format(digits, text + zeros);
	if (fraction) {
		memmove(text + len - fraction + 1, text + len - fraction, fraction + 1);
		text[len++ - fraction] = '.';
	}
	return len;
}

/* Format a double as "%.15g" does if it has at most 15 digits, and that no exponent.
 * Return: its length; 0 if it has more. */
static size_t format_short(double value, char *text)
{
	double size = fabs(value);
	bool is_negative = signbit(value);

	if (size != 0 && (size < 1e-4 || size >= 1e15))
		return 0;
	for (int fraction = 0; size * powers_of_ten[fraction] < 1e15 - 1; fraction++) {
		uint64_t digits = (uint64_t)(size * powers_of_ten[fraction] + 0.5);

		/* Different decimals of 15 digits are different doubles. */
		if ((double)digits / powers_of_ten[fraction] != size)
			continue;
		if (is_negative)
			*text++ = '-';
		return is_negative + put_decimal(digits, (size_t)fraction, text);
	}
	return 0;
}

size_t eddyi_f64_format(double value, char text[EDDYI_F64_SIZE])
{
	size_t len;

	if (!isfinite(value)) {
		strcpy(text, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
		return strlen(text);
	}
	len = format_short(value, text);
	if (len)
		return len;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, EDDYI_F64_SIZE, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return put_point(text);
}

double eddyi_f64_parse(const char *text, char **ret_end)
{
	/* The C locale is static: this can't fail, and allocates nothing. */
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double value = strtod_l(text, ret_end, c);

	freelocale(c);
	return value;
}

/* ---- hexadecimal and percent escapes ---- */

size_t eddyi_u64_format_hex(uint64_t value, char text[EDDYI_HEX_SIZE])
{
	size_t len = 1 + (63 - (size_t)__builtin_clzll(value | 1)) / 4;

	for (size_t at = len; at-- > 0; value >>= 4)
		text[at] = "0123456789abcdef"[value & 15];
	text[len] = 0;
	return len;
}

char *eddyi_hex_format(const void *bytes, size_t len, char *text)
{
	const unsigned char *from = bytes;

	for (size_t i = 0; i < len; i++) {
		*text++ = "0123456789abcdef"[from[i] >> 4];
		*text++ = "0123456789abcdef"[from[i] & 15];
	}
	return text;
}

int eddyi_percent_at(struct eddy_str str, size_t at)
{
	int high, low;

	if (at >= str.len || str.len - at < 3 || str.ptr[at] != '%')
		return -1;
	high = eddyi_hex_digit(str.ptr[at + 1]);
	low = eddyi_hex_digit(str.ptr[at + 2]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

char *eddyi_percent_put(char *text, char byte)
{
	static const char digits[] = "0123456789ABCDEF";

	*text++ = '%';
	*text++ = digits[(unsigned char)byte >> 4];
	*text++ = digits[byte & 15];
	return text;
}

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

char *eddyi_percent_encode(char *text, struct eddy_str bytes, const char *plain)
{
	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.ptr[i];

		if (is_alphanumeric(c) || (c && strchr(plain, c)))
			*text++ = c;
		else
			text = eddyi_percent_put(text, c);
	}
	return text;
}

/* ---- text in a buffer ---- */

void eddyi_text_some(struct eddyi_text *text, struct eddy_str str)
{
	size_t room = (size_t)(text->end - text->at);

	eddyi_text_put(text, str.ptr, str.len < room ? str.len : room);
	text->full |= str.len > room;
}

void eddyi_text_escaped(struct eddyi_text *text, struct eddy_str str,
			void (*escape)(struct eddyi_text *text, struct eddy_str character))
{
	while (str.len && !text->full) {
		size_t len = eddyi_str_plain_len(str);

		if (len) {
			eddyi_text_some(text, eddy_str(str.ptr, len));
		} else {
			len = eddyi_str_utf8_len(str);
			escape(text, eddy_str(str.ptr, len));
		}
		str = eddy_str_skip(str, len ? len : 1);
	}
}

void eddyi_text_u64(struct eddyi_text *text, uint64_t value)
{
	char digits[EDDY_U64_SIZE];

	eddyi_text_put(text, digits, eddy_u64_format(value, digits));
}

void eddyi_text_i64(struct eddyi_text *text, int64_t value)
{
	char digits[EDDYI_I64_SIZE];

	eddyi_text_put(text, digits, eddyi_i64_format(value, digits));
}

void eddyi_text_f64(struct eddyi_text *text, double value)
{
	char digits[EDDYI_F64_SIZE];

	eddyi_text_put(text, digits, eddyi_f64_format(value, digits));
}
