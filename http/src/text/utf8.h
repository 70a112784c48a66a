/* utf8.h: UTF-8 (RFC 3629) checked as it arrives. */
#ifndef EDDYI_UTF8_H
#define EDDYI_UTF8_H

#include <eddy/str.h>

/* Zero: between two characters. */
struct eddyi_utf8 {
	uint8_t state;
};

/* Check the next bytes. Return: false once no following bytes could make the text valid. */
bool eddyi_utf8_check(struct eddyi_utf8 *utf8, struct eddy_str bytes);

/* Whether the text may end here. */
static inline bool eddyi_utf8_is_whole(const struct eddyi_utf8 *utf8)
{
	return !utf8->state;
}

#endif
