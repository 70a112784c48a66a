#include "metric_out.h"

#include <stdlib.h>
#include <eddy/internal/text.h>

#define SIZE_MIN 1024

static bool make_room(struct eddyi_metric_out *out, size_t len)
{
	size_t size = out->size ? out->size : SIZE_MIN;
	char *bytes;

	if (out->failed)
		return false;
	while (size - out->len < len)
		size *= 2;
	if (size == out->size)
		return true;
	bytes = realloc(out->bytes, size);
	out->failed = !bytes;
	if (!bytes)
		return false;
	out->bytes = bytes;
	out->size = size;
	return true;
}

void eddyi_metric_put(struct eddyi_metric_out *out, const char *bytes, size_t len)
{
	if (!make_room(out, len))
		return;
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
}

void eddyi_metric_put_all(struct eddyi_metric_out *out, const char *const *strings)
{
	for (; *strings; strings++)
		eddyi_metric_put(out, *strings, strlen(*strings));
}

void eddyi_metric_put_escaped(struct eddyi_metric_out *out, const char *text, bool is_label)
{
	struct eddy_str rest = eddy_str_from(text);

	while (rest.len) {
		size_t len = eddyi_str_utf8_len(rest);

		if (!len)
			eddyi_metric_puts(out, "\xef\xbf\xbd");
		else if (*rest.ptr == '\n')
			eddyi_metric_puts(out, "\\n");
		else if (*rest.ptr == '\\' || (*rest.ptr == '"' && is_label))
			eddyi_metric_put(out, (char[]){ '\\', *rest.ptr }, 2);
		else
			eddyi_metric_put(out, rest.ptr, len);
		rest = eddy_str_skip(rest, len ? len : 1);
	}
}

size_t eddyi_metric_format(uint64_t value, unsigned decimals, char text[EDDYI_METRIC_NUMBER_SIZE])
{
	char places[EDDY_U64_SIZE];
	uint64_t unit = 1;
	size_t len;

	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	len = eddy_u64_format(value / unit, text);
	if (value % unit == 0)
		return len;
	/* A leading 1 keeps the zeros; the point replaces it. */
	eddy_u64_format(unit + value % unit, places);
	places[0] = '.';
	memcpy(text + len, places, decimals + 2);
	len += decimals + 1;
	while (text[len - 1] == '0')
		text[--len] = 0;
	return len;
}

void eddyi_metric_put_number(struct eddyi_metric_out *out, int64_t value, unsigned decimals)
{
	char text[EDDYI_METRIC_NUMBER_SIZE];
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	if (value < 0)
		eddyi_metric_puts(out, "-");
	eddyi_metric_put(out, text, eddyi_metric_format(size, decimals, text));
}
