/* outcome.h: what the tests of multipart.h make of a body. */
#ifndef EDDY_TESTS_OUTCOME_H
#define EDDY_TESTS_OUTCOME_H

#include "message/multipart.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>

static struct eddyi_arena arena;

/* The .fini of these suites. */
static inline void teardown(void)
{
	eddyi_arena_deinit(&arena);
	eddyi_arena_trim();
}

/* An assertion is a message to whoever runs the tests, even one that holds: where there are a million, only those are
 * made that do not. */
#define EXPECT_QUIETLY(condition)                                                                  \
	do {                                                                                       \
		if (!(condition))                                                                  \
			cr_fail("%s", #condition);                                                 \
	} while (0)

/* What a body gave: text of all events, "{name|filename|type}data" for each part, "." behind a
 * whole part, "!" behind the form, and the error. */
struct outcome {
	char *text;
	size_t len, room;
	size_t largest; /* DATA event */
	int err;
};

static inline void put(struct outcome *outcome, const char *bytes, size_t len)
{
	if (outcome->len + len + 1 > outcome->room) {
		outcome->room = 2 * (outcome->len + len + 1);
		outcome->text = realloc(outcome->text, outcome->room);
	}
	memcpy(outcome->text + outcome->len, bytes, len);
	outcome->len += len;
	outcome->text[outcome->len] = 0;
}

static inline void put_event(struct outcome *outcome, const struct eddyi_multipart_event *event)
{
	const struct eddyi_multipart_part *part = &event->part;

	switch (event->kind) {
	case EDDYI_MULTIPART_MORE:
		break;
	case EDDYI_MULTIPART_PART:
		put(outcome, "{", 1);
		put(outcome, part->name.ptr, part->name.len);
		put(outcome, "|", 1);
		if (part->filename.ptr)
			put(outcome, part->filename.ptr, part->filename.len);
		else
			put(outcome, "-", 1);
		put(outcome, "|", 1);
		if (part->content_type.ptr)
			put(outcome, part->content_type.ptr, part->content_type.len);
		put(outcome, "}", 1);
		break;
	case EDDYI_MULTIPART_DATA:
		EXPECT_QUIETLY(event->data.len > 0);
		put(outcome, event->data.ptr, event->data.len);
		if (event->data.len > outcome->largest)
			outcome->largest = event->data.len;
		break;
	case EDDYI_MULTIPART_PART_END:
		put(outcome, ".", 1);
		break;
	case EDDYI_MULTIPART_END:
		put(outcome, "!", 1);
		break;
	}
}

/* Read a body in pieces of `size` bytes, each of them in memory of its own. */
static inline struct outcome read_body(struct eddy_str boundary, struct eddy_str body, size_t size,
				       const struct eddyi_multipart_options *options)
{
	struct eddyi_multipart_event event;
	struct eddyi_multipart multipart;
	struct outcome outcome = { 0 };

	put(&outcome, "", 0);
	eddyi_multipart_init(&multipart, &arena, boundary, options);
	while (body.len && !outcome.err) {
		size_t len = body.len < size ? body.len : size;
		char *exact = malloc(len);
		struct eddy_str piece = eddy_str(memcpy(exact, body.ptr, len), len);

		body = eddy_str_skip(body, len);
		do {
			outcome.err = eddyi_multipart_next(&multipart, &piece, &event);
			if (!outcome.err)
				put_event(&outcome, &event);
		} while (!outcome.err && event.kind != EDDYI_MULTIPART_MORE);
		EXPECT_QUIETLY(outcome.err || piece.len == 0);
		free(exact);
	}
	if (outcome.err) {
		struct eddy_str none = EDDY_STR("");

		cr_expect(eq(int, eddyi_multipart_next(&multipart, &none, &event), outcome.err));
		cr_expect(eq(int, eddyi_multipart_finish(&multipart), outcome.err));
	} else {
		outcome.err = eddyi_multipart_finish(&multipart);
	}
	return outcome;
}

static const size_t sizes[] = { 1, 2, 3, 7, 64, SIZE_MAX };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

/* Read a body in pieces of all sizes; the outcome must always be the same. With an error, what came
 * before it may be less or more, but never different. */
static inline struct outcome read_all_sizes(const char *boundary, struct eddy_str body,
					    const struct eddyi_multipart_options *options)
{
	struct outcome whole = read_body(eddy_str_from(boundary), body, SIZE_MAX, options);

	for (size_t i = 0; i < SIZES; i++) {
		struct outcome got = read_body(eddy_str_from(boundary), body, sizes[i], options);
		size_t len = got.len < whole.len ? got.len : whole.len;

		cr_expect(eq(int, got.err, whole.err), "pieces of %zu: %.200s", sizes[i], body.ptr);
		if (!whole.err)
			cr_expect(eq(sz, got.len, whole.len), "pieces of %zu: %.200s", sizes[i],
				  body.ptr);
		cr_expect(zero(int, memcmp(got.text, whole.text, len)), "pieces of %zu: %.200s",
			  sizes[i], body.ptr);
		free(got.text);
	}
	return whole;
}

#endif
