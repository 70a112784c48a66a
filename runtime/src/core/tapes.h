/* tapes.h: all tapes of the process, between those who write them and the one thread that reads them. */
#ifndef EDDYI_TAPES_H
#define EDDYI_TAPES_H

#include "tape.h"

#include <eddy/base.h>

/* Odd while a timeline is recorded, in slices or all the time. */
extern unsigned eddyi_trace_generation;

static inline bool eddyi_timeline_has_begun(void)
{
	return __builtin_expect(__atomic_load_n(&eddyi_trace_generation, __ATOMIC_RELAXED) & 1, 0);
}

/* ---- who writes ---- */

/* A tape for this thread's loop. Return: NULL when nothing is recorded any more, or memory is out. */
struct eddyi_tape *eddyi_tapes_join(const struct eddy_loop *loop);

/* The loop writes no more on its tape: it is freed once it has been read. */
void eddyi_tapes_leave(struct eddyi_tape *tape);

/* The tape of threads that are no loop's, with its lock held until it is given back; NULL where there is none, or this slice of
 * time is not recorded. */
struct eddyi_tape *eddyi_tapes_outside(void);
void eddyi_tapes_outside_done(void);

/* Wait until all that was taken down before is read or lost, `timeout_ns` at most. Blocks the thread. */
void eddyi_tapes_flush(uint64_t timeout_ns);

/* ---- who reads ---- */

/* What tapes are from here on. Before there is a reader. */
struct eddyi_tapes_settings {
	unsigned generation;
	unsigned sample;
	size_t buffer; /* bytes of a loop's tape */
	uint64_t began_ns;
};

/* Make the tape of those that are no loop's. Return: 0, -ENOMEM. */
int eddyi_tapes_begin(const struct eddyi_tapes_settings *settings);

/* Drop that one. There is no reader any more. */
void eddyi_tapes_end(void);

/* Start the reader: while one is there, tapes that have ended are its to drop, and whoever flushes waits for it.
 * Return: what `start` returned: 0, -errno. */
int eddyi_tapes_start(int (*start)(void));

/* The reader is to go over all tapes once more, and end. Nobody joins from here on. */
void eddyi_tapes_stop(void);
bool eddyi_tapes_is_stopping(void);

/* Until much waits to be read, or somebody flushes; `period_ns` at most. */
void eddyi_tapes_wait(uint64_t period_ns);

/* A pass: have what is on each tape read, up to `head`, the jobs' last; then drop those that have ended. */
void eddyi_tapes_read(void (*read)(struct eddyi_tape *tape, size_t head));

/* A pass is over, with all that is written after it; the last: the reader is there no more. */
void eddyi_tapes_passed(bool is_last);

/* The group of the loop that has this thread; the process where there is none. */
uint32_t eddyi_tapes_group_of(pid_t tid);

/* What is on the tapes is the parent's, in a child that was forked; those of loops stay with them. */
void eddyi_tapes_in_child(void);

#endif
