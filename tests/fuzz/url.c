/* Fuzzes http/src/text/url.h: a base, a NUL, and a reference. */
#include "text/url.h"

#include <stdlib.h>

static void check(const struct eddyi_url *url)
{
	for (size_t i = 0; i < url->target.len; i++) {
		unsigned char c = (unsigned char)url->target.ptr[i];

		if (c <= 0x20 || c >= 0x7f || strchr("\\\"<>^`{|}#", c))
			abort();
	}
	for (size_t i = 0; i < url->host.name.len; i++)
		if (strchr("@/\\?#,%", url->host.name.ptr[i]))
			abort();
	if (!url->host.name.len || !url->port || (url->path.len && url->path.ptr[0] != '/'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str all = eddy_str((const char *)data, size), base, text;
	struct eddyi_arena arena = { 0 };
	struct eddyi_url url, resolved, again;

	if (!size || !eddy_str_split(&all, 0, &base) || eddyi_url_parse(base, &url) < 0)
		return 0;
	check(&url);
	if (all.ptr && eddyi_url_resolve(&arena, &url, all, &resolved, &text) == 0) {
		check(&resolved);
		/* What it came to means the same when it is read again. */
		if (eddyi_url_parse(text, &again) < 0 ||
		    !eddyi_url_is_same_origin(&resolved, &again) ||
		    !eddy_str_eq(resolved.target, again.target))
			abort();
	}
	eddyi_arena_deinit(&arena);
	return 0;
}
