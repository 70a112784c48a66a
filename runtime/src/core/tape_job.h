/* tape_job.h: records offload jobs on the tape of threads without a loop. */
#ifndef EDDYI_TAPE_JOB_H
#define EDDYI_TAPE_JOB_H

#include <stdint.h>

/* When a job was queued, and by which task; all 0 if nothing is recorded. */
struct eddyi_tape_job {
	uint64_t queued_ns;
	uint64_t began_ns;
	uint32_t track;
	uint32_t group;
	unsigned generation; /* the timeline that `track` belongs to */
};

/* Called by the task that queues the job, and by the pool's thread before and after it runs. */
void eddyi_tape_job_queued(struct eddyi_tape_job *job);
void eddyi_tape_job_begins(struct eddyi_tape_job *job);
void eddyi_tape_job_ended(const struct eddyi_tape_job *job);

#endif
