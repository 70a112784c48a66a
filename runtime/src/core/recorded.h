/* recorded.h: what the core asks of a thread's track; ../record has it. */
#ifndef EDDYI_RECORDED_H
#define EDDYI_RECORDED_H

#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <pthread.h>

struct eddyi_track;

/* Mark the end of a recording or replay: the process is about to end by this signal. */
void eddyi_recording_end_by(int signo);

/* Begin a loop's executor by `begin`, or replay it. Return: 0, -errno. */
int eddyi_recorded_begin(struct eddy_loop *loop, unsigned entries,
			 int (*begin)(struct eddy_loop *loop, unsigned entries));

/* Make the track of a thread that this one is about to start. */
struct eddyi_track *eddyi_recorded_thread(void);

/* Begin and end this thread's track. `track` is not NULL. */
void eddyi_recorded_thread_begin(struct eddyi_track *track);
void eddyi_recorded_thread_end(void);

/* Let threads with tracks run while this one blocks outside of its ring. */
void eddyi_blocked_begin(void);
void eddyi_blocked_end(void);

/* pthread_mutex_lock() of a lock that a thread with a track may hold while it blocks. */
int eddyi_mutex_lock_recorded(pthread_mutex_t *lock);

/* pthread_cond_wait() on state of threads with tracks. A replay returns in the recorded order, without a signal. */
int eddyi_cond_wait_recorded(pthread_cond_t *changed, pthread_mutex_t *lock);
static inline int eddyi_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock)
{
	return EDDYI_HAS_TRACK ? eddyi_cond_wait_recorded(changed, lock) :
				 pthread_cond_wait(changed, lock);
}

#endif
