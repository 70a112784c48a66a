/* recorded.h: what the core asks of a thread's track; ../record has it. Functions of the middle part
 * are called on threads with a track only.
 *
 * A message has an origin, by which a replay finds it again: the track of the thread that posted it, or of the
 * job, and its number there.
 */
#ifndef EDDYI_RECORDED_H
#define EDDYI_RECORDED_H

#include <eddy/internal/outside.h>
#include <eddy/loop.h>

struct eddyi_job;

enum {
	EDDYI_ORIGIN_FOREIGN = 0, /* a thread without a track */
	EDDYI_ORIGIN_NONE = 1,    /* the message is neither recorded nor replayed */
};

/* eddy_loop_post() with an origin. */
void eddyi_loop_post_from(struct eddy_loop *loop, struct eddy_message *message, uint64_t origin);

/* Mark the end of a recording or replay: the process is about to end by this signal. */
void eddyi_recording_end_by(int signo);

/* Begin a loop's executor by `begin`, or replay it. Return: 0, -errno. */
int eddyi_recorded_begin(struct eddy_loop *loop, unsigned entries,
			 int (*begin)(struct eddy_loop *loop, unsigned entries));

/* Make the track of a thread that this one is about to start; NULL: none. */
struct eddyi_track *eddyi_recorded_thread(void);

/* End this thread's track. */
void eddyi_recorded_thread_ended(void);

/* Get the origin of the next message that this thread posts. */
uint64_t eddyi_recorded_origin(void);

/* Whether a replayed loop is about to deliver messages. */
bool eddyi_replay_has_messages(void);

/* Record the messages that are about to be delivered, or get those of the replay. Both lists begin with the oldest. */
struct eddy_message *eddyi_recorded_messages(struct eddy_loop *loop, struct eddy_message *arrived);

/* ---- jobs of the offload pool ---- */

/* Give a job a track, before it is submitted. */
void eddyi_recorded_submit(struct eddyi_job *job);

/* Forget a job that was not submitted, or was taken back. */
void eddyi_recorded_forget(struct eddyi_job *job);

/* Forget a detached job that was given up. The pool's thread ends it if that had taken it. */
void eddyi_recorded_give_up(struct eddyi_job *job, bool taken_back);

/* End a job's track, before its message is posted. Called on the pool's thread. */
void eddyi_recorded_job_ended(struct eddyi_job *job, bool given_up);

#endif
