/* timeline_text.h: builds JSON text. */
#ifndef EDDYI_TIMELINE_TEXT_H
#define EDDYI_TIMELINE_TEXT_H

#include <eddy/str.h>

/* The caller ensures that there is room. */
struct eddyi_text {
	char *begin;
	char *at;
};

/* Append text unchanged. Inlined: constants take a few instructions. */
static inline __attribute__((always_inline)) void eddyi_text(struct eddyi_text *text, const char *z)
{
	size_t len = strlen(z);

	memcpy(text->at, z, len);
	text->at += len;
}

void eddyi_text_u64(struct eddyi_text *text, uint64_t value);
void eddyi_text_i64(struct eddyi_text *text, int64_t value);

/* Append "0x" and hexadecimal digits. */
void eddyi_text_hex(struct eddyi_text *text, uint64_t value);

/* Append nanoseconds as microseconds with three decimals. */
void eddyi_text_us(struct eddyi_text *text, uint64_t ns);

/* Append a string in quotation marks. Invalid UTF-8 becomes U+FFFD. Each byte takes at most six. */
void eddyi_text_quoted(struct eddyi_text *text, struct eddy_str str);
void eddyi_text_quoted_z(struct eddyi_text *text, const char *z);

#endif
