/* json_text.h: JSON in a buffer of fixed size. */
#ifndef EDDYI_JSON_TEXT_H
#define EDDYI_JSON_TEXT_H

#include <eddy/str.h>

struct eddyi_json {
	char *at;
	char *end;
	bool full; /* something did not fit; nothing more is written */
};

void eddyi_json_put(struct eddyi_json *json, const char *ptr, size_t len);
void eddyi_json_put_z(struct eddyi_json *json, const char *z);

/* Write a quoted string; invalid UTF-8 becomes U+FFFD. If it does not fit, it is cut, ends with
 * "…", and `full` is set. */
void eddyi_json_put_string(struct eddyi_json *json, struct eddy_str str);

EDDY_PRINTF(2, 3) void eddyi_json_printf(struct eddyi_json *json, const char *format, ...);

#endif
