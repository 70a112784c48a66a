/* timeline.h: the one timeline of the process, as loops and threads of the pool see it. */
#ifndef EDDYI_TIMELINE_H
#define EDDYI_TIMELINE_H

#include "tape.h"

#include <eddy/timeline.h>

/* Odd while a timeline is recorded, in slices or all the time. */
extern unsigned eddyi_trace_generation;

static inline bool eddyi_timeline_has_begun(void)
{
	return __builtin_expect(__atomic_load_n(&eddyi_trace_generation, __ATOMIC_RELAXED) & 1, 0);
}

/* Start as the environment asks for it, once in the life of the process. */
void eddyi_timeline_begin(void);

/* ---- timeline_writer.c ---- */

/* A tape for this thread's loop. Return: NULL when nothing is recorded any more, or memory is out. */
struct eddyi_tape *eddyi_timeline_join(const struct eddy_loop *loop);

/* The loop writes no more on its tape: it is freed once it has been read. */
void eddyi_timeline_leave(struct eddyi_tape *tape);

/* Much waits to be written. Never blocks. */
void eddyi_timeline_call(void);

/* Wait until all that was taken down before is written or lost, `timeout_ns` at most. Blocks the thread. */
void eddyi_timeline_flush(uint64_t timeout_ns);

/* A number for a track: none is given out twice. */
uint32_t eddyi_timeline_new_track(void);

/* ---- jobs of the pool ---- */

/* When a job was queued, and by which task; all 0 where nothing is recorded. */
struct eddyi_timeline_job {
	uint64_t queued_ns;
	uint64_t began_ns;
	uint32_t track;
	uint32_t group;
	unsigned generation; /* that the track is of */
};

/* Called by the task that queues it, and by the thread around it. */
void eddyi_timeline_job_queued(struct eddyi_timeline_job *job);
void eddyi_timeline_job_begins(struct eddyi_timeline_job *job);
void eddyi_timeline_job_ended(const struct eddyi_timeline_job *job);

#endif
