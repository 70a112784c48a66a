#include "json_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <eddy/internal/text.h>

void eddyi_json_put(struct eddyi_json *json, const char *ptr, size_t len)
{
	if (json->full || len > (size_t)(json->end - json->at)) {
		json->full = true;
		return;
	}
	memcpy(json->at, ptr, len);
	json->at += len;
}

void eddyi_json_put_z(struct eddyi_json *json, const char *z)
{
	eddyi_json_put(json, z, strlen(z));
}

static void put_escape(struct eddyi_json *json, unsigned char c)
{
	char text[8];

	if (c == '"' || c == '\\')
		snprintf(text, sizeof(text), "\\%c", c);
	else if (c == '\n')
		strcpy(text, "\\n");
	else
		snprintf(text, sizeof(text), "\\u%04x", c);
	eddyi_json_put_z(json, text);
}

void eddyi_json_put_string(struct eddyi_json *json, struct eddy_str str)
{
	static const char cut[] = "…\"";
	char *end = json->end;

	eddyi_json_put(json, "\"", 1);
	if (json->full)
		return;
	if ((size_t)(json->end - json->at) < sizeof(cut) - 1) {
		json->full = true;
		return;
	}
	json->end -= sizeof(cut) - 1;
	while (str.len && !json->full) {
		const unsigned char *at = (const unsigned char *)str.ptr;
		size_t len = eddyi_str_plain_len(str), room = (size_t)(json->end - json->at);

		if (len) {
			eddyi_json_put(json, str.ptr, len < room ? len : room);
			json->full |= len > room;
			str = eddy_str_skip(str, len);
			continue;
		}
		len = eddyi_str_utf8_len(str);
		if (!len)
			eddyi_json_put_z(json, "\\ufffd");
		else if (*at < ' ' || *at == '"' || *at == '\\' || *at == 0x7f)
			put_escape(json, *at);
		else
			eddyi_json_put(json, str.ptr, len);
		str = eddy_str_skip(str, len ? len : 1);
	}
	json->end = end;
	if (json->full) {
		json->full = false;
		eddyi_json_put_z(json, cut);
		json->full = true;
	} else {
		eddyi_json_put(json, "\"", 1);
	}
}

void eddyi_json_printf(struct eddyi_json *json, const char *format, ...)
{
	size_t room = (size_t)(json->end - json->at);
	va_list args;
	int len;

	if (json->full)
		return;
	va_start(args, format);
	len = vsnprintf(json->at, room, format, args);
	va_end(args);
	/* The NUL needs room too, and is overwritten. */
	if (len < 0 || (size_t)len >= room)
		json->full = true;
	else
		json->at += len;
}
