/* Fuzzes eddy/cookie.h: each line is a Cookie field. What is read and may be set is read as the same when it
 * comes back. */
#include "exchange/exchange_state.h"

#include <eddy/cookie.h>
#include <stdlib.h>

#define FIELDS_MAX 8

static size_t split_fields(struct eddy_str text, struct eddyi_header *headers)
{
	struct eddy_str line;
	size_t count = 0;

	while (count < FIELDS_MAX && eddy_str_split(&text, '\n', &line))
		headers[count++] = (struct eddyi_header){ EDDY_STR("Cookie"), eddy_str_trim(line) };
	return count;
}

/* Give it to the client, and take it back. */
static void round_trip(const struct eddy_pair *pair)
{
	struct eddyi_header header = { EDDY_STR("cookie"), { 0 } };
	struct eddy_req req = { .res = { .req = &req } };
	struct eddy_str set, value, name = eddyi_arena_dup(&req.arena, pair->name);
	struct eddy_cookie cookie = { .name = name.ptr, .value = pair->value };

	/* Of a C string the name ends at its first NUL. */
	if (strlen(name.ptr) == name.len && eddy_res_cookie(&req.res, &cookie) == 0) {
		set = eddy_res_header(&req.res, "set-cookie");
		header.value = set;
		req.head.headers = &header;
		req.head.header_count = 1;
		if (set.len != name.len + 1 + pair->value.len || memchr(set.ptr, ';', set.len) ||
		    eddy_req_cookie(&req, name.ptr, &value) < 0 || !eddy_str_eq(value, pair->value))
			abort();
	}
	eddyi_arena_deinit(&req.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddyi_header headers[FIELDS_MAX];
	struct eddy_req req = { .head.headers = headers };
	struct eddy_pairs pairs;

	req.head.header_count = (unsigned)split_fields(eddy_str((const char *)data, size), headers);
	if (eddy_req_cookie_pairs(&req, &pairs) == 0) {
		for (size_t i = 0; i < pairs.count; i++) {
			const struct eddy_pair *pair = &pairs.list[i];

			if (!pair->name.len || memchr(pair->name.ptr, '=', pair->name.len) ||
			    memchr(pair->name.ptr, ';', pair->name.len))
				abort();
			if (pair->value.len && memchr(pair->value.ptr, ';', pair->value.len))
				abort();
			round_trip(pair);
		}
	}
	eddyi_arena_deinit(&req.arena);
	return 0;
}
