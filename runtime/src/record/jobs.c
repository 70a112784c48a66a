/* Messages between threads, and jobs of the offload pool. A job has a track of its own, whose bytes are learned by its
 * loop together with the job's message. A replay runs the job there, on the loop's thread. */
#include "track.h"

#include "core/loop.h"
#include "core/recorded.h"
#include "io/offload_pool.h"

#include <stdlib.h>
#include <string.h>

/* The origin of a message: bits 48 and up have the track, and one more; bits 16 to 47 the job, or the upper part
 * of the number; the others the number. */
static uint64_t origin_of(const struct eddyi_track *track, uint64_t number)
{
	uint64_t of_track = ((uint64_t)track->number + 1) << 48;

	return track->job ? of_track | (uint64_t)1 << 47 | (track->job & 0x7fffffff) << 16 |
				    (number & 0xffff) :
			    of_track | (number & 0x7fffffffffff);
}

static uint64_t job_of(uint64_t origin)
{
	return origin >> 47 & 1 ? origin >> 16 & 0x7fffffff : 0;
}

uint64_t eddyi_recorded_origin(void)
{
	return origin_of(eddyi_track, ++eddyi_track->posts);
}

/* ---- jobs ---- */

void eddyi_recorded_submit(struct eddyi_job *job)
{
	struct eddyi_track *track = eddyi_track, *own;

	track->jobs++;
	own = eddyi_track_make(track->state, track->number);
	eddyi_assert(own, "out of memory in a recording or replay");
	own->job = track->jobs;
	own->parent = track;
	job->track = own;
	if (track->state != EDDYI_TRACK_REPLAYED)
		return;
	job->next_unrun = track->unrun;
	track->unrun = job;
}

void eddyi_recorded_forget(struct eddyi_job *job)
{
	struct eddyi_job **at = &eddyi_track->unrun;

	while (*at && *at != job)
		at = &(*at)->next_unrun;
	if (*at)
		*at = job->next_unrun;
	if (job->track)
		eddyi_track_free(job->track);
	job->track = NULL;
}

void eddyi_recorded_give_up(struct eddyi_job *job, bool taken_back)
{
	bool is_replay = eddyi_is_replay();

	if (taken_back || is_replay)
		eddyi_recorded_forget(job);
	if (taken_back || !is_replay)
		return;
	/* Nothing shows whether it has run. */
	job->destroy(job->arg);
	free(job);
}

void eddyi_recorded_job_ended(struct eddyi_job *job, bool given_up)
{
	struct eddyi_track *track = job->track, *parent = track->parent;

	if (given_up) {
		eddyi_track_free(track);
		return;
	}
	track->next = atomic_load(&parent->done);
	while (!atomic_compare_exchange_weak(&parent->done, &track->next, track))
		;
}

/* Take the ended job with this number out of the list. */
static struct eddyi_track *take_done(struct eddyi_track *track, uint64_t job)
{
	struct eddyi_track *arrived = atomic_exchange(&track->done, NULL), **at, *found;

	while (arrived) {
		struct eddyi_track *next = arrived->next;

		arrived->next = track->kept;
		track->kept = arrived;
		arrived = next;
	}
	for (at = &track->kept; *at && (*at)->job != job;)
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = found->next;
	return found;
}

static size_t size_of(const struct eddyi_track *job)
{
	size_t size = 0;

	for (const struct eddyi_chunk *chunk = job->oldest; chunk; chunk = chunk->next)
		size += atomic_load(&chunk->len);
	return size;
}

/* Record what a job has learned, behind its message. */
static void record_job(struct eddyi_track *track, uint64_t number)
{
	struct eddyi_track *job = take_done(track, number);

	eddyi_learn(track, job ? size_of(job) : 0);
	if (!job)
		return;
	for (struct eddyi_chunk *chunk = job->oldest; chunk; chunk = chunk->next)
		eddyi_learn_bytes(track, chunk->bytes, atomic_load(&chunk->len));
	eddyi_issue_job(track, job);
	eddyi_track_free(job);
}

/* Run a job with what it has learned in the recording. */
static void replay_job(struct eddyi_track *track, uint64_t number)
{
	struct eddyi_job **at = &track->unrun, *job;
	struct eddy_loop *loop = eddyi_this_loop;
	size_t len = eddyi_learn(track, 0);
	struct eddyi_track *own;

	while (*at && (*at)->track->job != number)
		at = &(*at)->next_unrun;
	job = *at;
	if (!job)
		eddyi_diverge(track, "a job ends that was never begun");
	*at = job->next_unrun;
	own = job->track;
	own->unpacked = malloc(len + 1);
	eddyi_assert(own->unpacked, "out of memory in a replay");
	eddyi_learn_bytes(track, own->unpacked, len);
	own->at = own->unpacked;
	own->end = own->at + len;
	eddyi_this_loop = NULL;
	eddyi_track = own;
	eddyi_offload_run_here(job);
	eddyi_this_loop = loop;
	eddyi_track = track;
	eddyi_issue_job(track, own);
	eddyi_track_free(own);
}

/* ---- messages ---- */

bool eddyi_replay_has_messages(void)
{
	return eddyi_event_next(eddyi_track) == EDDYI_EVENT_MESSAGES;
}

static struct eddy_message *record_messages(struct eddyi_track *track, struct eddy_message *arrived)
{
	unsigned count = 0;

	for (struct eddy_message *each = arrived; each; each = each->next)
		count += each->origin != EDDYI_ORIGIN_NONE;
	if (!count)
		return arrived;
	eddyi_event_begin(track, EDDYI_EVENT_MESSAGES);
	eddyi_learn(track, count);
	for (struct eddy_message *each = arrived; each; each = each->next) {
		if (each->origin == EDDYI_ORIGIN_NONE)
			continue;
		eddyi_learn(track, each->origin);
		if (job_of(each->origin))
			record_job(track, job_of(each->origin));
	}
	eddyi_event_end(track);
	return arrived;
}

/* Add messages to those that wait for their turn. */
static void keep_early(struct eddyi_track *track, struct eddy_message *arrived)
{
	struct eddy_message **last = &track->early;

	while (*last)
		last = &(*last)->next;
	*last = arrived;
}

static struct eddy_message *take_early(struct eddyi_track *track, uint64_t origin)
{
	struct eddy_message **at = &track->early, *found;

	while (*at && (*at)->origin != origin)
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = found->next;
	return found;
}

struct awaited {
	struct eddyi_track *track;
	struct eddy_loop *loop;
	uint64_t origin;
	struct eddy_message *found;
};

static bool has_come(void *arg)
{
	struct awaited *awaited = arg;

	keep_early(awaited->track, eddyi_message_take_all(awaited->loop));
	awaited->found = take_early(awaited->track, awaited->origin);
	return awaited->found;
}

static struct eddy_message *replay_messages(struct eddyi_track *track, struct eddy_loop *loop,
					    struct eddy_message *arrived)
{
	struct eddy_message *first = NULL, **last = &first;
	uint64_t count;

	keep_early(track, arrived);
	if (!eddyi_replay_has_messages())
		return NULL;
	eddyi_event_begin(track, EDDYI_EVENT_MESSAGES);
	count = eddyi_learn(track, 0);
	for (; count; count--) {
		struct awaited awaited = { track, loop, eddyi_learn(track, 0), NULL };

		if (job_of(awaited.origin))
			replay_job(track, job_of(awaited.origin));
		eddyi_replay_await(track, has_come, &awaited);
		*last = awaited.found;
		last = &awaited.found->next;
	}
	*last = NULL;
	eddyi_event_end(track);
	return first;
}

struct eddy_message *eddyi_recorded_messages(struct eddy_loop *loop, struct eddy_message *arrived)
{
	struct eddyi_track *track = eddyi_track;

	return track->state == EDDYI_TRACK_REPLAYED ? replay_messages(track, loop, arrived) :
						      record_messages(track, arrived);
}
