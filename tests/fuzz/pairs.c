/* Fuzzes http/src/text/pairs.h: what was read, written with every byte escaped, is read as the same again. */
#include "text/pairs.h"

#include <stdio.h>
#include <stdlib.h>

static char *escape(char *at, struct eddy_str text)
{
	for (size_t i = 0; i < text.len; i++)
		at += sprintf(at, "%%%02x", (unsigned char)text.ptr[i]);
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddyi_arena arena = { 0 };
	struct eddy_pairs pairs, again;
	char *text = malloc(4 * size + 1), *at = text;
	size_t len = 0;

	if (eddyi_pairs_parse(&arena, eddy_str((const char *)data, size), &pairs) < 0)
		goto end;
	for (size_t i = 0; i < pairs.count; i++) {
		len += pairs.list[i].name.len + pairs.list[i].value.len;
		if (len > size || !pairs.list[i].value.ptr)
			abort();
		at = escape(at, pairs.list[i].name);
		*at++ = '=';
		at = escape(at, pairs.list[i].value);
		*at++ = '&';
	}
	if (eddyi_pairs_parse(&arena, eddy_str(text, (size_t)(at - text)), &again) < 0 ||
	    again.count != pairs.count)
		abort();
	for (size_t i = 0; i < pairs.count; i++)
		if (!eddy_str_eq(pairs.list[i].name, again.list[i].name) ||
		    !eddy_str_eq(pairs.list[i].value, again.list[i].value))
			abort();
end:
	free(text);
	eddyi_arena_deinit(&arena);
	return 0;
}
