#include "tape_job.h"

#include "loop.h"
#include "tapes.h"

void eddyi_tape_job_queued(struct eddyi_tape_job *job)
{
	const struct eddyi_tape *tape = eddyi_loop()->tape;

	if (!tape)
		return;
	job->queued_ns = eddy_now();
	job->track = tape->run.track;
	job->group = tape->group;
	job->generation = tape->generation;
}

void eddyi_tape_job_begins(struct eddyi_tape_job *job)
{
	if (eddyi_timeline_has_begun())
		job->began_ns = eddy_now();
}

/* Get this thread's track on the locked outside tape. Return: 0 if its name does not fit. */
static uint32_t track_of_thread(struct eddyi_tape *tape)
{
	static _Thread_local uint32_t track;

	if (track < tape->first_track)
		track = eddyi_tape_name(tape, "offload", NULL, false);
	return track;
}

void eddyi_tape_job_ended(const struct eddyi_tape_job *job)
{
	struct eddyi_tape *tape;
	struct eddyi_mark *mark;
	uint32_t track;

	if (!job->began_ns)
		return;
	tape = eddyi_tapes_outside();
	if (tape && (track = track_of_thread(tape)) && (mark = eddyi_tape_take(tape, 0))) {
		*mark = (struct eddyi_mark){
			.kind = EDDYI_MARK_JOB,
			.track = track,
			.begin_ns = job->began_ns,
			.end_ns = eddy_now(),
			.job = {
				.queued_ns = job->queued_ns,
				.from = job->generation == tape->generation ? job->track : 0,
				.group = job->group,
				.flow = ++tape->last_flow,
			},
		};
		eddyi_tape_commit(tape, 0);
	}
	eddyi_tapes_outside_done();
}
