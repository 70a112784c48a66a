/* tapes.h: all tapes of the process, shared by the threads that write them and the one reader. */
#ifndef EDDYI_TAPES_H
#define EDDYI_TAPES_H

#include "tape.h"

#include <eddy/base.h>

/* Odd while a timeline is being recorded, continuously or in slices. */
extern unsigned eddyi_trace_generation;

static inline bool eddyi_timeline_has_begun(void)
{
	return __builtin_expect(__atomic_load_n(&eddyi_trace_generation, __ATOMIC_RELAXED) & 1, 0);
}

/* ---- writers ---- */

/* Create a tape for this loop. Return: NULL if recording has ended, or on allocation failure. */
struct eddyi_tape *eddyi_tapes_join(const struct eddy_loop *loop);

/* Give up the loop's tape. It is freed once it has been read. */
void eddyi_tapes_leave(struct eddyi_tape *tape);

/* Lock the tape of threads without a loop, until _done, which must be called in any case.
 * Return: NULL if there is none, or this slice of time is not recorded. */
struct eddyi_tape *eddyi_tapes_outside(void);
void eddyi_tapes_outside_done(void);

/* Block the thread until all marks so far are read or lost, for `timeout_ns` at most. */
void eddyi_tapes_flush(uint64_t timeout_ns);

/* ---- the reader ---- */

/* Settings of tapes made from here on. Set before there is a reader. */
struct eddyi_tapes_settings {
	unsigned generation;
	unsigned sample;
	size_t buffer; /* bytes of a loop's tape */
	uint64_t began_ns;
};

/* Create the tape of threads without a loop. Return: 0, -ENOMEM. */
int eddyi_tapes_begin(const struct eddyi_tapes_settings *settings);

/* Drop that tape. There must be no reader. */
void eddyi_tapes_end(void);

/* Start the reader. While it runs, it drops tapes that have ended, and flushes wait for it.
 * Return: what `start` returned: 0, -errno. */
int eddyi_tapes_start(int (*start)(void));

/* Tell the reader to read all tapes once more and end. No loop joins from here on. */
void eddyi_tapes_stop(void);
bool eddyi_tapes_is_stopping(void);

/* Wait until a tape has much to read or a flush is requested, for `period_ns` at most. */
void eddyi_tapes_wait(uint64_t period_ns);

/* Make a pass: read each tape up to `head`, offload jobs last; then drop those that have ended. */
void eddyi_tapes_read(void (*read)(struct eddyi_tape *tape, size_t head));

/* Note that a pass is over and written. After the last one there is no reader. */
void eddyi_tapes_passed(bool is_last);

/* Get the timeline group of the loop on this thread; the process's if it has no loop. */
uint32_t eddyi_tapes_group_of(pid_t tid);

/* In a forked child: discard the tapes, whose marks are the parent's. Loops keep their pointers. */
void eddyi_tapes_in_child(void);

#endif
