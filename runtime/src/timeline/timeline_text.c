#include "timeline_text.h"

#include <stdio.h>
#include <eddy/internal/text.h>

void eddyi_text_u64(struct eddyi_text *text, uint64_t value)
{
	char digits[20];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while (value /= 10);
	while (count)
		*text->at++ = digits[--count];
}

void eddyi_text_i64(struct eddyi_text *text, int64_t value)
{
	if (value < 0)
		*text->at++ = '-';
	eddyi_text_u64(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void eddyi_text_hex(struct eddyi_text *text, uint64_t value)
{
	eddyi_text(text, "0x");
	for (unsigned shift = 64 - 4; shift; shift -= 4)
		if (value >> shift)
			*text->at++ = "0123456789abcdef"[value >> shift & 15];
	*text->at++ = "0123456789abcdef"[value & 15];
}

void eddyi_text_us(struct eddyi_text *text, uint64_t ns)
{
	unsigned rest = ns % 1000;

	eddyi_text_u64(text, ns / 1000);
	*text->at++ = '.';
	*text->at++ = (char)('0' + rest / 100);
	*text->at++ = (char)('0' + rest / 10 % 10);
	*text->at++ = (char)('0' + rest % 10);
}

/* Write a character that JSON strings must escape. */
static void escape(struct eddyi_text *text, unsigned char byte)
{
	if (byte == '"' || byte == '\\') {
		*text->at++ = '\\';
		*text->at++ = (char)byte;
	} else {
		text->at += sprintf(text->at, "\\u%04x", byte);
	}
}

void eddyi_text_quoted(struct eddyi_text *text, struct eddy_str str)
{
	*text->at++ = '"';
	while (str.len) {
		unsigned char byte = (unsigned char)*str.ptr;
		size_t len = byte < 0x80 ? 1 : eddyi_str_utf8_len(str);

		if (byte < ' ' || byte == '"' || byte == '\\' || byte == 0x7f) {
			escape(text, byte);
		} else if (!len) {
			eddyi_text(text, "\\ufffd");
		} else {
			memcpy(text->at, str.ptr, len);
			text->at += len;
		}
		str = eddy_str_skip(str, len ? len : 1);
	}
	*text->at++ = '"';
}

void eddyi_text_quoted_z(struct eddyi_text *text, const char *z)
{
	eddyi_text_quoted(text, eddy_str_from(z));
}
