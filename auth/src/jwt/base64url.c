#include "base64url.h"

#include <errno.h>
#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* A character's value plus 1; 0 if it is invalid. */
static const unsigned char values[256] = {
	['A'] = 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,         12,         13,
	14,         15, 16, 17, 18, 19, 20, 21, 22, 23, 24,         25,         26,
	['a'] = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,         38,         39,
	40,         41, 42, 43, 44, 45, 46, 47, 48, 49, 50,         51,         52,
	['0'] = 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, ['-'] = 63, ['_'] = 64,
};

/* Combine `count` characters. Return: false if one is invalid. */
static bool gather(const char *text, unsigned count, uint32_t *ret_bits)
{
	uint32_t bits = 0, any = 0;

	for (unsigned i = 0; i < count; i++) {
		uint32_t value = values[(unsigned char)text[i]] - 1u;

		any |= value;
		bits = bits << 6 | value;
	}
	*ret_bits = bits;
	return any < 64;
}

ssize_t eddyi_base64url_decode(struct eddy_str text, unsigned char *ret_bytes)
{
	unsigned rest = text.len % 4, spare = rest == 2 ? 4 : 2;
	size_t len = 0, whole = text.len - rest;
	uint32_t bits;

	if (rest == 1)
		return -EBADMSG;
	for (size_t i = 0; i < whole; i += 4) {
		if (!gather(text.ptr + i, 4, &bits))
			return -EBADMSG;
		ret_bytes[len++] = (unsigned char)(bits >> 16);
		ret_bytes[len++] = (unsigned char)(bits >> 8);
		ret_bytes[len++] = (unsigned char)bits;
	}
	if (!rest)
		return (ssize_t)len;
	if (!gather(text.ptr + whole, rest, &bits))
		return -EBADMSG;
	/* Reject a second encoding of the same bytes. */
	if (bits & ((1u << spare) - 1))
		return -EBADMSG;
	bits >>= spare;
	if (rest == 3)
		ret_bytes[len++] = (unsigned char)(bits >> 8);
	ret_bytes[len++] = (unsigned char)bits;
	return (ssize_t)len;
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
