#include "base64.h"

#include <errno.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Return: the character's value; -1 if it is invalid. */
static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

ssize_t eddyi_base64_decode(struct eddy_str text, unsigned char *ret_bytes)
{
	size_t padding = 0, len = 0;
	unsigned bits = 0, count = 0;

	while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=')
		padding++;
	if (padding && text.len % 4)
		return -EBADMSG;
	text.len -= padding;
	if (text.len % 4 == 1)
		return -EBADMSG;
	for (size_t i = 0; i < text.len; i++) {
		int value = value_of(text.ptr[i]);

		if (value < 0)
			return -EBADMSG;
		bits = bits << 6 | (unsigned)value;
		count += 6;
		if (count >= 8) {
			count -= 8;
			if (ret_bytes)
				ret_bytes[len] = (unsigned char)(bits >> count);
			len++;
		}
	}
	return (ssize_t)len;
}

char *eddyi_base64_encode(const void *bytes, size_t len, char *text)
{
	const unsigned char *from = bytes;

	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		unsigned bits = (unsigned)from[i] << 16 | (left > 1 ? from[i + 1] << 8 : 0) |
				(left > 2 ? from[i + 2] : 0);

		*text++ = alphabet[bits >> 18];
		*text++ = alphabet[bits >> 12 & 63];
		*text++ = left > 1 ? alphabet[bits >> 6 & 63] : '=';
		*text++ = left > 2 ? alphabet[bits & 63] : '=';
	}
	return text;
}
