/* Fuzzes http/src/http1/response_head.h: in one piece, and byte by byte, to the same end. */
#include "http1/response_head.h"

#include <stdlib.h>

static int feed(struct eddyi_response_head *head, struct eddyi_arena *arena, struct eddy_str text,
		size_t step, size_t *ret_used)
{
	int r = 0;

	*ret_used = 0;
	eddyi_response_head_init(head, arena, 1024, 10);
	while (r == 0 && *ret_used < text.len) {
		struct eddy_str rest = eddy_str_skip(text, *ret_used);
		size_t used;

		r = eddyi_response_head_feed(head, rest.ptr, rest.len < step ? rest.len : step,
					     false, &used);
		*ret_used += used;
	}
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str text = eddy_str((const char *)data, size);
	struct eddyi_arena arena = { 0 };
	struct eddyi_response_head whole, slow;
	size_t used, slowly_used;
	int r = feed(&whole, &arena, text, size, &used);
	int slow_r = feed(&slow, &arena, text, 1, &slowly_used);

	if ((r == 1) != (slow_r == 1) || (r == 0) != (slow_r == 0))
		abort();
	if (r == 1) {
		if (used != slowly_used || whole.status != slow.status ||
		    whole.header_count != slow.header_count || whole.framing != slow.framing ||
		    whole.length != slow.length || whole.status < 100 || whole.status > 999)
			abort();
		for (unsigned i = 0; i < whole.header_count; i++)
			if (!eddy_str_eq(whole.headers[i].value, slow.headers[i].value) ||
			    memchr(whole.headers[i].value.ptr, '\n', whole.headers[i].value.len))
				abort();
	}
	eddyi_arena_deinit(&arena);
	return 0;
}
