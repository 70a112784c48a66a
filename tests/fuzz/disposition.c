/* Fuzzes http/src/text/disposition.h. What is taken for a name must survive being written and read. */
#include "text/disposition.h"

#include <eddy/internal/text.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str text = eddy_str((const char *)data, size), name, value;
	struct eddyi_disposition got;
	struct eddyi_arena arena = { 0 };

	if (eddyi_disposition_parse(&arena, text, &got) == 0 && got.filename.ptr &&
	    eddyi_filename_clean(got.filename, &name) == 0) {
		if (memchr(name.ptr, '/', name.len) || memchr(name.ptr, '\\', name.len) ||
		    memchr(name.ptr, 0, name.len) || name.ptr[0] == '.' || name.len > 255)
			abort();
	}
	value = eddyi_disposition_attachment(&arena, text);
	if (eddyi_disposition_parse(&arena, value, &got) < 0)
		abort();
	if (eddyi_str_is_utf8(text) && !eddy_str_eq(got.filename, text))
		abort();
	for (size_t i = 0; i < value.len; i++)
		if ((unsigned char)value.ptr[i] < 0x20 || (unsigned char)value.ptr[i] >= 0x7f)
			abort();
	eddyi_arena_deinit(&arena);
	return 0;
}
