/* timeline_text.h: JSON that is written piece by piece. */
#ifndef EDDYI_TIMELINE_TEXT_H
#define EDDYI_TIMELINE_TEXT_H

#include <eddy/str.h>

/* Whoever appends sees to it that there is room. */
struct eddyi_text {
	char *begin;
	char *at;
};

/* Append as it is: what is known to the compiler in a few instructions. */
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

/* Append nanoseconds as microseconds with three digits behind the point. */
void eddyi_text_us(struct eddyi_text *text, uint64_t ns);

/* Append a string with its quotation marks: bytes that are no UTF-8 become U+FFFD. A byte takes six at most. */
void eddyi_text_quoted(struct eddyi_text *text, struct eddy_str str);
void eddyi_text_quoted_z(struct eddyi_text *text, const char *z);

#endif
