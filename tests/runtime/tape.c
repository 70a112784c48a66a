#include "timeline/tape.h"

#include "expect.h"

#include <eddy/timeline.h>
#include <stdio.h>

#define SIZE 64

static struct eddyi_tape *new_tape(void)
{
	struct eddyi_tape *tape = eddyi_tape_new(SIZE * sizeof(struct eddyi_mark));

	cr_assert(tape);
	cr_assert_eq(tape->size, SIZE);
	tape->first_track = 1;
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

	cr_assert_eq(mark->track, (uint32_t)number);
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
	cr_expect_eq(eddyi_tape_name(tape, "name", NULL, false), 0);
	take(tape, 1, SIZE - 2);
	cr_expect_null(eddyi_tape_take(tape, 0));
	cr_expect_eq(tape->dropped, 3);
	for (int i = 0; i < 3; i++)
		give(tape, i);
	cr_expect_neq(eddyi_tape_name(tape, "name", NULL, false), 0);
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

/* A task of that name begins, runs and ends. Return: its track. */
static uint32_t pass(struct eddyi_tape *tape, const char *name)
{
	struct eddy_task task = { .name = name };

	eddyi_tape_run(&tape->guest, &task);
	eddyi_tape_back(&tape->guest, NULL);
	eddyi_tape_ended(&tape->guest, &task);
	/* All has been read. */
	atomic_store(&tape->tail, atomic_load(&tape->head));
	return task.track;
}

Test(tape, tracks_of_names_that_come_back_are_taken_over)
{
	struct eddyi_tape *tape = new_tape();
	uint32_t track;
	char name[32];

	for (int i = 0; i < EDDYI_TRACKS_LEFT; i++) {
		snprintf(name, sizeof(name), "once %d", i);
		pass(tape, name);
	}
	track = pass(tape, "again");
	for (int i = 0; i < EDDYI_TRACKS_LEFT - 1; i++) {
		snprintf(name, sizeof(name), "and once %d", i);
		pass(tape, name);
		cr_assert_eq(pass(tape, "again"), track);
	}
	cr_expect_eq(tape->dropped, 0);
	eddyi_tape_free(tape);
}

Test(tape, counts_a_run_that_has_no_room_once)
{
	struct eddyi_tape *tape = new_tape();
	struct eddy_task task = { .name = "nobody" };

	eddyi_tape_run(&tape->guest, &task);
	eddyi_tape_back(&tape->guest, NULL);
	cr_expect_eq(atomic_load(&tape->head), 3 + 1);
	/* Nothing ran: the slice began behind it. */
	eddyi_tape_back(&tape->guest, NULL);
	cr_expect_eq(atomic_load(&tape->head), 3 + 1);
	cr_expect_eq(tape->dropped, 0);
	task.track = 0;
	for (int i = 0; i < SIZE - 2 - 4; i++)
		take(tape, 0, i);
	/* Its name needs more room than there is. */
	eddyi_tape_run(&tape->guest, &task);
	eddyi_tape_back(&tape->guest, NULL);
	cr_expect_eq(task.track, 0);
	cr_expect_eq(tape->dropped, 1);
	cr_expect_eq(atomic_load(&tape->head), SIZE - 2);
	eddyi_tape_free(tape);
}

Test(tape, knows_what_has_woken_a_task_in_this_slice_only)
{
	struct eddyi_tape *tape = new_tape();
	struct eddy_task task = { .name = "woken" };

	tape->ring_track = eddyi_tape_name(tape, "ring", NULL, true);
	tape->first_track = tape->ring_track;
	tape->opened_ns = 1000;
	tape->at_ns = 2000;
	eddyi_tape_ready(&tape->guest, &task);
	eddyi_tape_run(&tape->guest, &task);
	cr_expect_eq(tape->run.run.ready_ns, 2000);
	cr_expect_eq(tape->run.run.from, tape->ring_track);
	cr_expect_neq(tape->run.run.flow, 0);
	eddyi_tape_back(&tape->guest, NULL);
	/* The slice ended before it ran. */
	tape->at_ns = 3000;
	eddyi_tape_ready(&tape->guest, &task);
	tape->opened_ns = tape->at_ns = 4000;
	eddyi_tape_run(&tape->guest, &task);
	cr_expect_eq(tape->run.run.ready_ns, 0);
	cr_expect_eq(tape->run.run.flow, 0);
	eddyi_tape_back(&tape->guest, NULL);
	/* The track is of an earlier timeline. */
	eddyi_tape_ready(&tape->guest, &task);
	tape->first_track = task.woken_by + 1;
	tape->opened_ns = task.ready_ns;
	eddyi_tape_run(&tape->guest, &task);
	cr_expect_eq(tape->run.run.ready_ns, 0);
	cr_expect_eq(tape->run.run.from, 0);
	eddyi_tape_free(tape);
}
