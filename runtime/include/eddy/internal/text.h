/* eddy/internal/text.h: text for log records, JSON and tokens; for eddy's own layers. */
#ifndef EDDY_INTERNAL_TEXT_H
#define EDDY_INTERNAL_TEXT_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* Count the leading printable ASCII bytes that no string syntax escapes: no '"', no '\\'. */
EDDY_API size_t eddyi_str_plain_len(struct eddy_str str);

/* Count the bytes of the UTF-8 character at the front (RFC 3629). Return: 0 if there is none. */
EDDY_API size_t eddyi_str_utf8_len(struct eddy_str str);

/* Format a double as in JSON, with a NUL, and with as few digits as identify it; the point is
 * independent of the locale. Values that JSON lacks: NaN, Infinity, -Infinity. Return: its
 * length. */
#define EDDYI_F64_SIZE 40
EDDY_API size_t eddyi_f64_format(double value, char text[EDDYI_F64_SIZE]);

EDDY_END_DECLS

#endif
