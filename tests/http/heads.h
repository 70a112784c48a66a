/* heads.h: what the tests of heads share: one is fed whole and in pieces. */
#ifndef EDDY_TESTS_HEADS_H
#define EDDY_TESTS_HEADS_H

#include "http1/request_head.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static const struct eddyi_head_limits limits = {
	.request_line_max = 8192,
	.header_block_max = 16384,
	.header_count_max = 100,
};

/* Feed `text` in pieces of `piece` bytes, each in memory of its own.
 * Return: the status; 0 when it was not enough. */
static inline int feed_head(struct eddyi_request_head *request, struct eddyi_head *head,
			    struct eddyi_arena *arena, struct eddy_str text, size_t piece,
			    bool is_first, size_t *ret_used)
{
	int status = 0;

	*ret_used = 0;
	*head = (struct eddyi_head){ .arena = arena };
	eddyi_request_head_init(request, head, &limits);
	request->is_first = is_first;
	while (text.len && !status) {
		size_t len = text.len < piece ? text.len : piece, used;
		char *exact = malloc(len);

		memcpy(exact, text.ptr, len);
		status = eddyi_request_head_feed(request, exact, len, &used);
		free(exact);
		*ret_used += used;
		text = eddy_str_skip(text, used);
	}
	return status;
}

/* As feed_head(), of a head that is not the first one. */
static inline int feed(struct eddyi_request_head *request, struct eddyi_head *head,
		       struct eddyi_arena *arena, struct eddy_str text, size_t piece,
		       size_t *ret_used)
{
	return feed_head(request, head, arena, text, piece, false, ret_used);
}

/* The status of a head, the same however it is cut. */
static inline int status_of_any(const char *text, bool is_first)
{
	struct eddyi_arena arena = { 0 };
	struct eddyi_request_head request;
	struct eddyi_head head;
	size_t used;
	int whole =
		feed_head(&request, &head, &arena, eddy_str_from(text), SIZE_MAX, is_first, &used);

	for (size_t piece = 1; piece < 8; piece++) {
		int cut = feed_head(&request, &head, &arena, eddy_str_from(text), piece, is_first,
				    &used);

		if (cut != whole)
			cr_log_error("%d whole and %d in pieces of %zu: %s", whole, cut, piece,
				     text);
		whole = cut == whole ? whole : -1;
	}
	eddyi_arena_deinit(&arena);
	return whole;
}

static inline int status_of(const char *text)
{
	return status_of_any(text, false);
}

static inline int status_of_first(const char *text)
{
	return status_of_any(text, true);
}

#define HOST "Host: localhost\r\n"
#define END HOST "\r\n"

#endif
