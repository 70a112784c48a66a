/* tape.h: the recording of a loop's activity for the thread that writes the timeline.
 *
 * A tape is a ring buffer of 64-byte marks with one writer and one reader. A mark is recorded when
 * the activity is over and has its begin and its end, so the file never holds half of a pair.
 *
 * Invariants:
 * 1. A tape of a loop is a guest of it while a timeline is recorded. It observes tasks and ops
 *    during a recorded slice of time; else only what keeps it up to date.
 * 2. `at_ns` is the end of the last mark on the loop's thread and the begin of the next. So the
 *    clock is read once for each mark.
 * 3. The writer alone changes `head`, the reader alone `tail`; marks between them belong to the
 *    reader.
 * 4. A track allocated by this loop's thread belongs to this tape if it is not below `first_track`,
 *    which is set as the loop joins and so is above all its tracks of earlier timelines. For tracks
 *    of other threads, only the generation tells.
 * 5. No two tasks have the same track at a time; the next task of the same name reuses it. A task
 *    that has been waiting since before the track was free does not, even if it gets its track
 *    later: it takes one that was free before its wait.
 * 6. The timeline frees a tape after the loop has set `ended`, following its last mark.
 */
#ifndef EDDYI_TAPE_H
#define EDDYI_TAPE_H

#include "core/guest.h"

#include <eddy/str.h>
#include <semaphore.h>
#include <stdatomic.h>

struct eddy_field;

enum eddyi_mark_kind {
	EDDYI_MARK_NONE,
	EDDYI_MARK_NAME,     /* of a track; text: the name, NUL, place of the spawn, NUL */
	EDDYI_MARK_RUN,      /* a task ran, after a wait */
	EDDYI_MARK_OP,       /* an op has completed and was handled */
	EDDYI_MARK_MORE,     /* a multishot has a completion and continues */
	EDDYI_MARK_KERNEL,   /* the loop was inside io_uring_enter(2) */
	EDDYI_MARK_MESSAGES, /* messages of other threads were delivered */
	EDDYI_MARK_TIMERS,   /* timers fired */
	EDDYI_MARK_JOB,      /* the offload pool ran a job */
	EDDYI_MARK_SPAN,     /* of the program; text: the name, NUL, the fields, see tape.c */
};

struct eddyi_mark {
	uint8_t kind;
	uint8_t more;   /* following marks that hold its text */
	uint8_t opcode; /* IORING_OP_* */
	bool worked;    /* see struct eddy_op */
	uint32_t track;
	uint64_t begin_ns;
	uint64_t end_ns;
	union {
		struct {
			bool is_ring;
		} name;
		struct {
			uint64_t since_ns; /* begin of its wait; 0: none */
			uint64_t ready_ns; /* when it was woken; 0: not seen */
			const char *what;  /* what it waited for; static */
			uint32_t from;     /* track that woke it */
			uint32_t flow;
			int fd; /* -1: none */
			uint32_t task;
		} run;
		struct {
			uint64_t since_ns; /* its start */
			int fd, fd2;
			int result;
			uint32_t len;
			uint32_t id;
			uint32_t task; /* track of the awaiting task; 0: none */
			bool own;      /* see struct eddy_op */
		} op;
		struct {
			uint32_t count; /* completions, messages, timers */
		} ring;
		struct {
			uint64_t queued_ns; /* 0: unknown */
			uint32_t from;      /* track of the task; 0: unknown */
			uint32_t group;     /* of that track */
			uint32_t flow;
		} job;
		struct {
			uint32_t id;
		} span;
	};
};

/* Text of a span, in the marks that follow it. */
#define EDDYI_MARK_TEXT_MAX 384

/* Tracks of ended tasks that are remembered for reuse. */
#define EDDYI_TRACKS_LEFT 256

/* The process's group in the file; those of loops follow. */
#define EDDYI_TIMELINE_PROCESS 1

struct eddyi_tape {
	struct eddyi_guest guest; /* of a loop */
	struct eddy_node node;    /* in the timeline's list */
	unsigned generation;
	uint32_t first_track;
	uint32_t group;    /* in the file: 1 is the process, others are loops */
	pid_t tid;         /* of the loop's thread */
	char name[48];     /* of the group */
	uint64_t began_ns; /* of the timeline */
	unsigned sample;   /* every n-th slice is recorded */
	bool ended;        /* under the lock of tapes.c */
	sem_t *called;     /* wakes the reader; NULL without one */

	struct eddyi_mark *marks;
	size_t size; /* a power of two */

	/* Of the writer. */
	_Alignas(64) atomic_size_t head;
	size_t tail_seen;
	uint64_t dropped;
	uint64_t at_ns;
	uint64_t opened_ns; /* of this slice */
	uint64_t edge_ns;   /* end of this slice, or begin of the next */
	uint32_t last_flow;
	uint32_t ring_track;
	uint32_t span_track;
	struct eddyi_mark run; /* the activity under way; .kind is NONE if there is none */
	struct eddyi_mark op;
	uint32_t left_count;
	struct {               /* the most recent last */
		uint32_t hash; /* of the name */
		uint32_t track;
		uint64_t ran_ns; /* begin of its last run */
	} left[EDDYI_TRACKS_LEFT];

	/* Of the reader. */
	_Alignas(64) atomic_size_t tail;
	atomic_bool is_called; /* it was woken because much is unread */
	uint64_t dropped_told;
	bool is_named; /* the file has the group's name */
};

/* Return: NULL on allocation failure. `size` is in bytes. */
struct eddyi_tape *eddyi_tape_new(size_t size);
void eddyi_tape_free(struct eddyi_tape *tape);

/* Reserve a mark and `more` following ones, to be filled and committed. Counts dropped marks.
 * Return: NULL if the tape is full. */
struct eddyi_mark *eddyi_tape_take(struct eddyi_tape *tape, unsigned more);

/* Get the mark `index` after a reserved one, or after one to read. */
static inline struct eddyi_mark *eddyi_tape_at(struct eddyi_tape *tape, size_t index)
{
	return &tape->marks[index & (tape->size - 1)];
}

/* Write the text into the marks that follow `mark`. */
void eddyi_tape_put_text(struct eddyi_tape *tape, const struct eddyi_mark *mark, const char *text,
			 size_t len);

/* Publish the reserved marks. */
void eddyi_tape_commit(struct eddyi_tape *tape, unsigned more);

/* Whether the slice of time around `now_ns` is recorded. */
bool eddyi_tape_is_in_slice(const struct eddyi_tape *tape, uint64_t now_ns);

/* Get the end of that slice, or the begin of the next recorded one. */
uint64_t eddyi_tape_edge_after(const struct eddyi_tape *tape, uint64_t now_ns);

/* Get the last track allocated by any thread. */
uint32_t eddyi_tape_last_track(void);

/* Allocate a track; `name` and `where` are copied. Return: 0 if the tape has no room for its name,
 * which counts as dropped. */
uint32_t eddyi_tape_name(struct eddyi_tape *tape, const char *name, const char *where,
			 bool is_ring);

/* Record a span, see eddy_trace_span(). */
void eddyi_tape_span(struct eddyi_tape *tape, struct eddy_str name, uint64_t begin_ns,
		     uint64_t end_ns, const struct eddy_field *fields);

/* ---- hooks of the loop's guest ---- */

void eddyi_tape_run(struct eddyi_guest *guest, struct eddy_task *task);
void eddyi_tape_back(struct eddyi_guest *guest, struct eddyi_waiter *waiter);
bool eddyi_tape_ready(struct eddyi_guest *guest, struct eddy_task *task);
void eddyi_tape_ended(struct eddyi_guest *guest, struct eddy_task *task);
void eddyi_tape_start(struct eddyi_guest *guest, struct eddy_op *op, struct io_uring_sqe *sqe);
void eddyi_tape_completing(struct eddyi_guest *guest, const struct eddy_op *op, int result,
			   unsigned flags);
void eddyi_tape_completed(struct eddyi_guest *guest);
void eddyi_tape_worked(struct eddyi_tape *tape, enum eddyi_work work, uint64_t count);

#endif
