/* tape_job.h: jobs of the pool on the tape of threads that are no loop's. */
#ifndef EDDYI_TAPE_JOB_H
#define EDDYI_TAPE_JOB_H

#include <stdint.h>

/* When a job was queued, and by which task; all 0 where nothing is recorded. */
struct eddyi_tape_job {
	uint64_t queued_ns;
	uint64_t began_ns;
	uint32_t track;
	uint32_t group;
	unsigned generation; /* that the track is of */
};

/* Called by the task that queues it, and by the thread around it. */
void eddyi_tape_job_queued(struct eddyi_tape_job *job);
void eddyi_tape_job_begins(struct eddyi_tape_job *job);
void eddyi_tape_job_ended(const struct eddyi_tape_job *job);

#endif
