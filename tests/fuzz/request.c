/* Fuzzes http/src/http1/request_head.h, and path.h on what comes out.
 *
 * The first byte says how the rest is cut into pieces, and whether it is the first request; whole and in
 * pieces must come to the same. */
#include "http1/request_head.h"
#include "text/path.h"

#include <stdlib.h>

static const struct eddyi_head_limits limits = {
	.request_line_max = 512,
	.header_block_max = 2048,
	.header_count_max = 20,
};

struct outcome {
	int status;
	size_t used;
};

static void check_head(const struct eddyi_request_head *request, struct eddyi_arena *arena)
{
	const struct eddyi_head *head = request->head;
	struct eddy_str path_text;
	struct eddyi_path path;
	size_t bytes = 0;

	if (!head->target.path.ptr || head->header_count > limits.header_count_max)
		abort();
	if (request->framing == EDDYI_BODY_CHUNKED &&
	    (head->version == EDDY_HTTP_1_0 ||
	     eddyi_head_find(head, EDDY_STR("content-length")).ptr))
		abort();
	for (unsigned i = 0; i < head->header_count; i++) {
		bytes += head->headers[i].name.len + head->headers[i].value.len;
		if (!head->headers[i].name.len ||
		    memchr(head->headers[i].value.ptr, '\n', head->headers[i].value.len))
			abort();
	}
	if (bytes > request->len)
		abort();
	path_text = head->target.path;
	if (!eddyi_path_remove_dots(&path_text) || !eddy_str_eq(path_text, head->target.path))
		abort();
	if (path_text.ptr[0] == '/')
		eddyi_path_split(arena, head->target.path, &path);
}

static struct outcome run(const char *bytes, size_t len, size_t piece, bool is_first)
{
	struct eddyi_arena arena = { 0 };
	struct outcome outcome = { 0 };
	struct eddyi_head head = { .arena = &arena };
	struct eddyi_request_head request;

	eddyi_request_head_init(&request, &head, &limits);
	request.is_first = is_first;
	while (outcome.used < len && !outcome.status) {
		size_t left = len - outcome.used, n = left < piece ? left : piece, used;
		char *exact = malloc(n);

		memcpy(exact, bytes + outcome.used, n);
		outcome.status = eddyi_request_head_feed(&request, exact, n, &used);
		free(exact);
		if (used > n || (!outcome.status && used != n))
			abort();
		outcome.used += used;
	}
	if (outcome.status == 200) {
		check_head(&request, &arena);
	} else if (outcome.status && (outcome.status < 400 || !head.problem)) {
		abort();
	} else if (!outcome.status) {
		int status = eddyi_request_head_end(&request);

		if (status && (status != 400 || !request.line_end))
			abort();
	}
	eddyi_arena_deinit(&arena);
	return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole, cut;
	const char *text = (const char *)data + 1;
	bool is_first;

	if (size < 2)
		return 0;
	is_first = data[0] & 0x40;
	whole = run(text, size - 1, size, is_first);
	cut = run(text, size - 1, data[0] % 64 + 1, is_first);
	/* A head that is refused may be so at an earlier byte; not for another cause to be answered. */
	if ((whole.status == 200) != (cut.status == 200))
		abort();
	if (whole.status == 200 && whole.used != cut.used)
		abort();
	return 0;
}
