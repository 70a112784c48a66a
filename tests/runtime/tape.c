#include "tape.h"

#include "expect.h"

#include <eddy/timeline.h>

#define SIZE 64

static struct eddyi_tape *new_tape(void)
{
	struct eddyi_tape *tape = eddyi_tape_new(SIZE * sizeof(struct eddyi_mark));

	cr_assert(tape);
	cr_assert_eq(tape->size, SIZE);
	tape->sample = 1;
	return tape;
}

/* What one mark takes, with its text. */
static void take(struct eddyi_tape *tape, unsigned more, int number)
{
	struct eddyi_mark *mark = eddyi_tape_take(tape, more);
	char text[3 * sizeof(*mark)];

	cr_assert(mark);
	memset(text, 'a' + number % 26, sizeof(text));
	*mark = (struct eddyi_mark){ .more = (uint8_t)more, .track = (uint32_t)number };
	eddyi_tape_put_text(tape, mark, text, more * sizeof(*mark));
	eddyi_tape_commit(tape, more);
}

static void give(struct eddyi_tape *tape, int number)
{
	size_t tail = atomic_load(&tape->tail);
	const struct eddyi_mark *mark = eddyi_tape_at(tape, tail);

	cr_assert_eq(mark->track, number);
	for (unsigned i = 0; i < mark->more; i++) {
		const char *text = (const char *)eddyi_tape_at(tape, tail + 1 + i);

		cr_assert_eq(text[0], 'a' + number % 26);
		cr_assert_eq(text[63], 'a' + number % 26);
	}
	atomic_store(&tape->tail, tail + 1 + mark->more);
}

Test(tape, goes_round_and_round)
{
	struct eddyi_tape *tape = new_tape();

	for (int i = 0; i < 1000; i++) {
		take(tape, (unsigned)i % 4, i);
		give(tape, i);
	}
	cr_expect_eq(tape->dropped, 0);
	eddyi_tape_free(tape);
}

Test(tape, counts_what_finds_no_room)
{
	struct eddyi_tape *tape = new_tape();

	for (int i = 0; i < SIZE - 2; i++)
		take(tape, 0, i);
	cr_expect_null(eddyi_tape_take(tape, 2));
	cr_expect_eq(tape->dropped, 1);
	/* A name that does not fit is not given: its track would have none. */
	cr_expect_eq(eddyi_tape_name(tape, "name", NULL, 1, false), 0);
	take(tape, 1, SIZE - 2);
	cr_expect_null(eddyi_tape_take(tape, 0));
	cr_expect_eq(tape->dropped, 3);
	for (int i = 0; i < 3; i++)
		give(tape, i);
	cr_expect_neq(eddyi_tape_name(tape, "name", NULL, 1, false), 0);
	cr_expect_eq(tape->dropped, 3);
	eddyi_tape_free(tape);
}

Test(tape, knows_its_slices)
{
	struct eddyi_tape *tape = new_tape();
	const uint64_t slice = EDDY_TRACE_SLICE_NS, began = 12345;

	tape->began_ns = began;
	cr_expect(eddyi_tape_is_in_slice(tape, began + 77 * slice));
	tape->sample = 3;
	cr_expect(eddyi_tape_is_in_slice(tape, began - 1));
	cr_expect(eddyi_tape_is_in_slice(tape, began));
	cr_expect(eddyi_tape_is_in_slice(tape, began + slice - 1));
	cr_expect(!eddyi_tape_is_in_slice(tape, began + slice));
	cr_expect(!eddyi_tape_is_in_slice(tape, began + 3 * slice - 1));
	cr_expect(eddyi_tape_is_in_slice(tape, began + 3 * slice));
	cr_expect_eq(eddyi_tape_edge_after(tape, began), began + slice);
	cr_expect_eq(eddyi_tape_edge_after(tape, began + slice), began + 3 * slice);
	cr_expect_eq(eddyi_tape_edge_after(tape, began + 3 * slice - 1), began + 3 * slice);
	cr_expect_eq(eddyi_tape_edge_after(tape, began + 3 * slice), began + 4 * slice);
	tape->sample = 1;
	cr_expect_eq(eddyi_tape_edge_after(tape, began), EDDY_NEVER);
	eddyi_tape_free(tape);
}
