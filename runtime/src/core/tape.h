/* tape.h: what a loop notes down of what it does, for the thread that writes the timeline.
 *
 * A tape is a ring of marks of 64 bytes that one thread writes and one reads. A mark is taken down when the thing
 * is over, so that it has its begin and its end: the file never holds half of a pair.
 *
 * Invariants:
 * 1. `loop->own_tape` is the loop's while a timeline is recorded; `loop->tape` is the same or NULL: it is set
 *    only in the slices of time that are recorded. Both are written by the loop's thread alone.
 * 2. `at_ns` is the end of what was last noted down on the loop's thread: what comes next begins there. So the
 *    clock is read once for each thing.
 * 3. `head` is written by the one thread, `tail` by the other; marks between them are the reader's.
 * 4. A track that this loop's thread drew is of this tape when it is not below `first_track`: it is set as the loop
 *    joins, and so above all that it drew for earlier timelines. Of others' tracks only the generation says it.
 * 5. A track is not given to two tasks at a time; the next task of the same name takes it over. One that has waited
 *    since before is not the next, though its track is drawn late: it takes what was left before its wait.
 * 6. A tape is freed by the timeline once `ended` is set, which the loop does, after its last mark.
 */
#ifndef EDDYI_TAPE_H
#define EDDYI_TAPE_H

#include <eddy/str.h>
#include <semaphore.h>
#include <stdatomic.h>

struct eddy_field;
struct eddy_loop;
struct eddy_op;
struct eddy_task;
struct eddyi_waiter;

enum eddyi_mark_kind {
	EDDYI_MARK_NONE,
	EDDYI_MARK_NAME, /* of a track: its text is the name, a NUL, where it was spawned, a NUL */
	EDDYI_MARK_RUN,  /* a task ran; before that it waited */
	EDDYI_MARK_OP,   /* an op has completed for good, and was taken note of */
	EDDYI_MARK_MORE, /* a multishot has completed and goes on */
	EDDYI_MARK_KERNEL,   /* the loop was inside io_uring_enter(2) */
	EDDYI_MARK_MESSAGES, /* of other threads were delivered */
	EDDYI_MARK_TIMERS,   /* fired */
	EDDYI_MARK_JOB,      /* of the offload pool */
	EDDYI_MARK_SPAN,     /* its text is the name, a NUL, and the fields, see tape_span.c */
};

struct eddyi_mark {
	uint8_t kind;
	uint8_t more;   /* marks that come behind it and are its text */
	uint8_t opcode; /* IORING_OP_* */
	bool worked;    /* see struct eddy_op */
	uint32_t track;
	uint64_t begin_ns;
	uint64_t end_ns;
	union {
		struct {
			uint64_t task;
			bool is_ring;
		} name;
		struct {
			uint64_t since_ns; /* it waited since then; 0 when it did not */
			uint64_t ready_ns; /* it was woken; 0 when that was not seen */
			const char *what;  /* it waited for; static */
			uint32_t from;     /* the track that woke it */
			uint32_t flow;
			int fd; /* -1 for none */
			uint32_t task;
		} run;
		struct {
			uint64_t since_ns; /* it was started */
			int fd, fd2;
			int result;
			unsigned flags;
			uint32_t len;
			uint32_t id;
			uint32_t task; /* the track of the task that awaited it; 0 for none */
			bool own;      /* see struct eddy_op */
		} op;
		struct {
			uint32_t count; /* completions, messages, timers */
		} ring;
		struct {
			uint64_t queued_ns; /* 0: not known */
			uint32_t from;      /* the track of the task; 0: not known */
			uint32_t group;     /* of that track */
			uint32_t flow;
		} job;
		struct {
			uint32_t id;
		} span;
	};
};

/* Behind the mark itself: the text of a span. */
#define EDDYI_MARK_TEXT_MAX 384

/* The latest tracks that tasks have left, by name: others are not used again. */
#define EDDYI_TRACKS_LEFT 256

/* The group in the file that is the process; those of loops come behind it. */
#define EDDYI_TIMELINE_PROCESS 1

struct eddyi_tape {
	struct eddy_node node; /* in the timeline's list */
	unsigned generation;
	uint32_t first_track;
	uint32_t group;    /* in the file: one for each loop, 1 is the process */
	pid_t tid;         /* of the loop's thread */
	char name[48];     /* of the group */
	uint64_t began_ns; /* the timeline */
	unsigned sample;   /* one slice of so many is recorded */
	bool ended;        /* by the lock of tapes.c */
	sem_t *called;     /* of the reader; NULL where nobody reads */

	struct eddyi_mark *marks;
	size_t size; /* a power of two */

	/* Of the thread that writes it. */
	_Alignas(64) atomic_size_t head;
	size_t tail_seen;
	uint64_t dropped;
	uint64_t at_ns;
	uint64_t opened_ns; /* of this slice */
	uint64_t edge_ns;   /* when it ends, or the next begins */
	uint32_t last_flow;
	uint32_t ring_track;
	uint32_t span_track;
	struct eddyi_mark run; /* what goes on; .kind is NONE where nothing does */
	struct eddyi_mark op;
	uint32_t left_count;
	struct {               /* the latest last */
		uint32_t hash; /* of the name */
		uint32_t track;
		uint64_t ran_ns; /* its last run began */
	} left[EDDYI_TRACKS_LEFT];

	/* Of the one that reads it. */
	_Alignas(64) atomic_size_t tail;
	atomic_bool is_called; /* it has been told that much waits */
	uint64_t dropped_told;
	bool is_named; /* its group is, in the file */
};

/* Return: NULL when memory is out. `size` in bytes. */
struct eddyi_tape *eddyi_tape_new(size_t size);
void eddyi_tape_free(struct eddyi_tape *tape);

/* Room for a mark, and for `more` behind it, to be filled and committed; counts what is dropped.
 * Return: NULL when there is none. */
struct eddyi_mark *eddyi_tape_take(struct eddyi_tape *tape, unsigned more);

/* The mark behind one that was taken, or that is read: at `index` from there. */
static inline struct eddyi_mark *eddyi_tape_at(struct eddyi_tape *tape, size_t index)
{
	return &tape->marks[index & (tape->size - 1)];
}

/* The text of a mark that was taken with so much more. */
void eddyi_tape_put_text(struct eddyi_tape *tape, const struct eddyi_mark *mark, const char *text,
			 size_t len);

/* What was taken is complete. */
void eddyi_tape_commit(struct eddyi_tape *tape, unsigned more);

/* Whether the slice of time around `now_ns` is recorded. */
bool eddyi_tape_is_in_slice(const struct eddyi_tape *tape, uint64_t now_ns);

/* When that slice ends, or the next one that is recorded begins. */
uint64_t eddyi_tape_edge_after(const struct eddyi_tape *tape, uint64_t now_ns);

/* The number of the track that was drawn last. */
uint32_t eddyi_tape_last_track(void);

/* A track of this name: `name` as it is copied. Return: 0 when there is no room to say so, which is counted. */
uint32_t eddyi_tape_name(struct eddyi_tape *tape, const char *name, const char *where,
			 uint64_t task, bool is_ring);

/* Take down a span, see eddy_trace_span(). */
void eddyi_tape_span(struct eddyi_tape *tape, struct eddy_str name, uint64_t begin_ns,
		     uint64_t end_ns, const struct eddy_field *fields);

/* ---- what a loop calls; see probe.h ---- */

/* Whether to record, from here on. */
void eddyi_tape_look(struct eddy_loop *loop);

/* Once a turn, after the kernel. */
void eddyi_tape_turn(struct eddy_loop *loop);

/* The loop is over. Waits up to a second until its marks are written. */
void eddyi_tape_end(struct eddy_loop *loop);

/* What goes on is cut here: the timeline ends. */
void eddyi_tape_cut(struct eddy_loop *loop);

void eddyi_tape_run(struct eddy_loop *loop, struct eddy_task *task);
void eddyi_tape_back(struct eddy_loop *loop, struct eddyi_waiter *waiter);
void eddyi_tape_ready(struct eddy_loop *loop, struct eddy_task *task);
void eddyi_tape_left(struct eddyi_tape *tape, const struct eddy_task *task);
void eddyi_tape_started(struct eddy_op *op);
void eddyi_tape_completing(struct eddy_loop *loop, const struct eddy_op *op, int result,
			   unsigned flags);
void eddyi_tape_completed(struct eddy_loop *loop);
void eddyi_tape_ring(struct eddy_loop *loop, enum eddyi_mark_kind kind, uint64_t count);

#endif
