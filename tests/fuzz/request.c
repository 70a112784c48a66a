/* Fuzzes the request path: http/src/head.h, then path.h and chunked.h on what follows.
 *
 * The first byte says how the rest is cut into pieces; whole and in pieces must come to the same. */
#include "chunked.h"
#include "head.h"
#include "path.h"

#include <stdlib.h>

static const struct eddyi_head_limits limits = {
	.request_line_max = 512,
	.header_block_max = 2048,
	.header_count_max = 20,
};

struct outcome {
	int status;
	size_t used;
	size_t data;   /* of a chunked body */
	size_t framed; /* bytes of the body taken */
	int ended;
};

static void check_head(struct eddyi_head *head, struct eddyi_arena *arena)
{
	struct eddyi_path path;
	size_t bytes = 0;

	if (!head->target.path.ptr || head->header_count > limits.header_count_max)
		abort();
	for (unsigned i = 0; i < head->header_count; i++) {
		bytes += head->headers[i].name.len + head->headers[i].value.len;
		if (!head->headers[i].name.len ||
		    memchr(head->headers[i].value.ptr, '\n', head->headers[i].value.len))
			abort();
	}
	if (bytes > head->len)
		abort();
	if (head->target.path.ptr[0] == '/')
		eddyi_path_split(arena, head->target.path, &path);
}

static void read_body(const char *body, size_t len, size_t piece, struct outcome *outcome)
{
	struct eddyi_chunked chunked = { 0 };

	while (len && outcome->ended == 0) {
		struct eddy_str rest = eddy_str(body, len < piece ? len : piece);
		int r;

		body += rest.len;
		len -= rest.len;
		outcome->framed += rest.len;
		while ((r = eddyi_chunked_next(&chunked, &rest)) == 1) {
			size_t n = rest.len < chunked.left ? rest.len : (size_t)chunked.left;

			if (!n)
				abort();
			outcome->data += n;
			chunked.left -= n;
			rest = eddy_str_skip(rest, n);
		}
		outcome->framed -= rest.len;
		outcome->ended = r;
	}
}

static struct outcome run(const char *bytes, size_t len, size_t piece)
{
	struct eddyi_arena arena = { 0 };
	struct outcome outcome = { 0 };
	struct eddyi_head head;

	eddyi_head_init(&head, &arena, &limits);
	while (outcome.used < len && !outcome.status) {
		size_t left = len - outcome.used, n = left < piece ? left : piece, used;
		char *exact = malloc(n);

		memcpy(exact, bytes + outcome.used, n);
		outcome.status = eddyi_head_feed(&head, exact, n, &used);
		free(exact);
		if (used > n || (!outcome.status && used != n))
			abort();
		outcome.used += used;
	}
	if (outcome.status == 200) {
		check_head(&head, &arena);
		if (head.framing == EDDYI_BODY_CHUNKED)
			read_body(bytes + outcome.used, len - outcome.used, piece, &outcome);
	} else if (outcome.status && (outcome.status < 400 || !head.problem)) {
		abort();
	}
	eddyi_arena_deinit(&arena);
	return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole, cut;

	if (size < 2)
		return 0;
	whole = run((const char *)data + 1, size - 1, size);
	cut = run((const char *)data + 1, size - 1, data[0] % 64 + 1);
	/* A head that is refused may be so at an earlier byte; not for another cause to be answered. */
	if ((whole.status == 200) != (cut.status == 200))
		abort();
	if (whole.status != 200)
		return 0;
	if (whole.used != cut.used || whole.data != cut.data || whole.ended != cut.ended)
		abort();
	return 0;
}
