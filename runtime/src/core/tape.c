#include "tape.h"

#include <eddy/timeline.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MIN (64 * sizeof(struct eddyi_mark))

_Static_assert(sizeof(struct eddyi_mark) == 64, "a mark is a line of the cache");

struct eddyi_tape *eddyi_tape_new(size_t size)
{
	struct eddyi_tape *tape = aligned_alloc(64, sizeof(*tape));
	size_t count = SIZE_MIN / sizeof(struct eddyi_mark);

	if (!tape)
		return NULL;
	*tape = (struct eddyi_tape){ 0 };
	while (count * 2 * sizeof(struct eddyi_mark) <= size)
		count *= 2;
	tape->size = count;
	tape->marks = malloc(count * sizeof(*tape->marks));
	if (!tape->marks) {
		free(tape);
		return NULL;
	}
	return tape;
}

void eddyi_tape_free(struct eddyi_tape *tape)
{
	free(tape->marks);
	free(tape);
}

struct eddyi_mark *eddyi_tape_take(struct eddyi_tape *tape, unsigned more)
{
	size_t head = atomic_load_explicit(&tape->head, memory_order_relaxed);

	if (tape->size - (head - tape->tail_seen) <= more)
		tape->tail_seen = atomic_load_explicit(&tape->tail, memory_order_acquire);
	if (tape->size - (head - tape->tail_seen) <= more) {
		/* Release: the reader may see `dropped` before any mark, and needs `span_track`. */
		__atomic_store_n(&tape->dropped, tape->dropped + 1, __ATOMIC_RELEASE);
		return NULL;
	}
	return eddyi_tape_at(tape, head);
}

void eddyi_tape_put_text(struct eddyi_tape *tape, const struct eddyi_mark *mark, const char *text,
			 size_t len)
{
	size_t at = (size_t)(mark - tape->marks) + 1;

	for (size_t done = 0; done < len; done += sizeof(*mark), at++)
		memcpy(eddyi_tape_at(tape, at), text + done,
		       len - done < sizeof(*mark) ? len - done : sizeof(*mark));
}

void eddyi_tape_commit(struct eddyi_tape *tape, unsigned more)
{
	size_t head = atomic_load_explicit(&tape->head, memory_order_relaxed) + 1 + more;

	atomic_store_explicit(&tape->head, head, memory_order_release);
	if (__builtin_expect(head - tape->tail_seen < tape->size / 2, 1))
		return;
	tape->tail_seen = atomic_load_explicit(&tape->tail, memory_order_acquire);
	if (tape->called && head - tape->tail_seen >= tape->size / 2 &&
	    !atomic_exchange_explicit(&tape->is_called, true, memory_order_relaxed))
		sem_post(tape->called);
}

/* ---- tracks ---- */

#define NAME_LEN_MAX 80
#define WHERE_LEN_MAX 46

/* Copy as much of `text` as fits, and a NUL. Return: the end of the copy. */
static char *copy(char *to, const char *text, size_t max)
{
	size_t len = strnlen(text, max);

	memcpy(to, text, len);
	to[len] = '\0';
	return to + len + 1;
}

/* Tracks are never reused for another name. */
static atomic_uint last_track;

uint32_t eddyi_tape_last_track(void)
{
	return atomic_load(&last_track);
}

uint32_t eddyi_tape_name(struct eddyi_tape *tape, const char *name, const char *where, bool is_ring)
{
	char text[2 * sizeof(struct eddyi_mark)] = "";
	struct eddyi_mark *mark = eddyi_tape_take(tape, 2);
	uint32_t track;

	_Static_assert(NAME_LEN_MAX + WHERE_LEN_MAX + 2 <= sizeof(text), "both fit");
	if (!mark)
		return 0;
	copy(copy(text, name ? name : "", NAME_LEN_MAX), where ? where : "", WHERE_LEN_MAX);
	track = atomic_fetch_add(&last_track, 1) + 1;
	*mark = (struct eddyi_mark){
		.kind = EDDYI_MARK_NAME,
		.more = 2,
		.track = track,
		.name = { .is_ring = is_ring },
	};
	eddyi_tape_put_text(tape, mark, text, sizeof(text));
	eddyi_tape_commit(tape, 2);
	return track;
}

/* ---- slices of time ---- */

/* Number of the slice since the timeline began. */
static uint64_t slice_at(const struct eddyi_tape *tape, uint64_t now)
{
	return now > tape->began_ns ? (now - tape->began_ns) / EDDY_TRACE_SLICE_NS : 0;
}

bool eddyi_tape_is_in_slice(const struct eddyi_tape *tape, uint64_t now_ns)
{
	return slice_at(tape, now_ns) % tape->sample == 0;
}

uint64_t eddyi_tape_edge_after(const struct eddyi_tape *tape, uint64_t now)
{
	uint64_t slice = slice_at(tape, now), left = slice % tape->sample;

	if (tape->sample == 1)
		return EDDY_NEVER;
	slice += left ? tape->sample - left : 1;
	return tape->began_ns + slice * EDDY_TRACE_SLICE_NS;
}
