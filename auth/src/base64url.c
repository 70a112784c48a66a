#include "base64url.h"

#include <errno.h>
#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* What a character stands for, and 1; 0 for those that stand for nothing. */
static const unsigned char values[256] = {
	['A'] = 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,         12,         13,
	14,         15, 16, 17, 18, 19, 20, 21, 22, 23, 24,         25,         26,
	['a'] = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,         38,         39,
	40,         41, 42, 43, 44, 45, 46, 47, 48, 49, 50,         51,         52,
	['0'] = 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, ['-'] = 63, ['_'] = 64,
};

ssize_t eddyi_base64url_decode(struct eddy_str text, unsigned char *ret_bytes)
{
	uint32_t bits = 0;
	unsigned count = 0;
	size_t len = 0;

	if (text.len % 4 == 1)
		return -EBADMSG;
	for (size_t i = 0; i < text.len; i++) {
		unsigned value = values[(unsigned char)text.ptr[i]];

		if (!value)
			return -EBADMSG;
		bits = bits << 6 | (value - 1);
		count += 6;
		if (count >= 8) {
			count -= 8;
			ret_bytes[len++] = (unsigned char)(bits >> count);
		}
	}
	/* Several texts would stand for the same bytes. */
	return bits & ((1u << count) - 1) ? -EBADMSG : (ssize_t)len;
}

size_t eddyi_base64url_encode(const void *bytes, size_t len, char *ret_text)
{
	const unsigned char *from = bytes;
	uint32_t bits = 0;
	unsigned count = 0;
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		bits = bits << 8 | from[i];
		count += 8;
		while (count >= 6) {
			count -= 6;
			ret_text[at++] = alphabet[bits >> count & 63];
		}
	}
	if (count)
		ret_text[at++] = alphabet[bits << (6 - count) & 63];
	return at;
}
