/* Turns: of the threads with tracks one runs at a time, and a replay lets them run in the recorded order. So all memory
 * that they share is the same in a replay, whether a lock, an atomic or a message protects it. A thread gives its turn
 * away while it waits for its ring, for another thread, or in a system call of a job that takes time.
 *
 * Turns have numbers, drawn in the order in which threads want one: `serving` is the number of the thread that runs. In
 * a replay a thread reads the number of its next turn as it gives one away, which shows when none has the next
 * turn: the recording ends there. A program with one thread has one turn.
 */
#include "track.h"

#include "base/panic.h"
#include "core/recorded.h"

#include <errno.h>
#include <pthread.h>

#define NO_TURN UINT64_MAX     /* of a thread that has ended, or whose recording has */
#define STUCK_S 20             /* a thread with the turn waits for one without it */
#define HELD_NS (20 * EDDY_MS) /* a thread without the turn keeps a lock for longer */

static struct {
	pthread_mutex_t lock;
	uint64_t serving, last;
	_Atomic(struct eddyi_track *) tracks;
	atomic_bool is_over; /* all may run: the recording has ended early */
} turns = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct eddyi_track *eddyi_turns_tracks(void)
{
	return atomic_load(&turns.tracks);
}

void eddyi_turns_add(struct eddyi_track *track)
{
	struct eddyi_track *newest = atomic_load(&turns.tracks);

	pthread_cond_init(&track->served, NULL);
	track->number = newest ? newest->number + 1 : 0;
	track->next = newest;
	atomic_store(&turns.tracks, track);
}

/* pthread_mutex_lock() is redirected for threads with a track. */
static void lock_turns(void)
{
	struct eddyi_track *track = eddyi_track;

	eddyi_track = NULL;
	pthread_mutex_lock(&turns.lock);
	eddyi_track = track;
}

static bool are_taken(void)
{
	return atomic_load(&turns.tracks)->next && !atomic_load(&turns.is_over);
}

/* Lock held. Say which turn this thread takes next. */
static void want(struct eddyi_track *track)
{
	track->wanted = NO_TURN;
	if (!eddyi_replays)
		track->wanted = ++turns.last;
	else if (!eddyi_track_is_at_end(track))
		track->wanted = track->turn += eddyi_learn(track, 0);
	track->waits = true;
}

/* Lock held. Wake the thread that has the turn. A replay ends if no thread runs, and none has it. */
static void serve(void)
{
	bool all_wait = true;

	for (struct eddyi_track *track = atomic_load(&turns.tracks); track; track = track->next) {
		all_wait = all_wait && track->waits;
		if (!track->waits || track->wanted != turns.serving)
			continue;
		pthread_cond_signal(&track->served);
		return;
	}
	if (eddyi_replays && all_wait)
		eddyi_replay_end();
}

void eddyi_turns_end(void)
{
	atomic_store(&turns.is_over, true);
	for (struct eddyi_track *track = atomic_load(&turns.tracks); track; track = track->next)
		pthread_cond_signal(&track->served);
}

/* Lock held, which is released. */
static void await(struct eddyi_track *track)
{
	uint64_t serving = turns.serving;
	int seconds = 0;

	eddyi_track = NULL;
	while (turns.serving != track->wanted && !atomic_load(&turns.is_over)) {
		struct timespec until;

		/* In small steps: clocks are set, and machines sleep. */
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		seconds += pthread_cond_timedwait(&track->served, &turns.lock, &until) == ETIMEDOUT;
		if (serving != turns.serving)
			seconds = 0;
		serving = turns.serving;
		if (seconds >= STUCK_S && !eddyi_replays)
			eddyi_recording_fail(-EDEADLK);
	}
	track->waits = false;
	pthread_mutex_unlock(&turns.lock);
	eddyi_track = track;
	if (eddyi_replays)
		return;
	eddyi_learn(track, track->wanted - track->turn);
	track->turn = track->wanted;
}

void eddyi_turn_give(struct eddyi_track *track)
{
	eddyi_event_publish(track);
	if (!are_taken())
		return;
	lock_turns();
	if (eddyi_replays)
		want(track);
	turns.serving++;
	serve();
	pthread_mutex_unlock(&turns.lock);
}

void eddyi_turn_take(struct eddyi_track *track)
{
	if (!are_taken())
		return;
	lock_turns();
	if (!eddyi_replays)
		want(track);
	await(track);
}

/* ---- threads ---- */

struct eddyi_track *eddyi_recorded_thread(void)
{
	struct eddyi_track *track = eddyi_track_make();

	eddyi_assert(track || !eddyi_replays, "out of memory in a recording or replay");
	if (track)
		eddyi_turns_add(track);
	return track;
}

void eddyi_recorded_thread_begin(struct eddyi_track *track)
{
	eddyi_track = track;
	lock_turns();
	want(track);
	serve();
	await(track);
}

void eddyi_recorded_thread_end(void)
{
	struct eddyi_track *track = eddyi_track;

	eddyi_track = NULL;
	eddyi_event_publish(track);
	lock_turns();
	track->wanted = NO_TURN;
	track->waits = true;
	/* The writer takes the last chunk. */
	if (track->chunk)
		eddyi_recording_chunk_full(track->chunk);
	track->chunk = NULL;
	turns.serving++;
	serve();
	pthread_mutex_unlock(&turns.lock);
}

void eddyi_blocked_begin(void)
{
	eddyi_event_begin(eddyi_track, EDDYI_EVENT_BLOCKED);
	eddyi_turn_give(eddyi_track);
}

void eddyi_blocked_end(void)
{
	eddyi_turn_take(eddyi_track);
	eddyi_event_end(eddyi_track);
}

/* A thread that waits for its turn, or is in a call, may hold the lock. Then this one gives its turn away, as often in a
 * replay: the lock is free after a turn of that thread. */
static void let_holder_run(struct eddyi_track *track)
{
	unsigned locks = track->locks;

	eddyi_event_begin(track, EDDYI_EVENT_LOCK);
	eddyi_issue(track, locks);
	eddyi_turn_give(track);
	if (!eddyi_replays) {
		eddyi_track = NULL;
		usleep(1000);
		eddyi_track = track;
	}
	eddyi_turn_take(track);
	eddyi_event_end(track);
	track->locks = locks;
}

static int lock_soon(pthread_mutex_t *lock)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += HELD_NS;
	until.tv_sec += until.tv_nsec / (long)EDDY_SECOND;
	until.tv_nsec %= (long)EDDY_SECOND;
	return pthread_mutex_timedlock(lock, &until);
}

int eddyi_mutex_lock_recorded(pthread_mutex_t *lock)
{
	struct eddyi_track *track = eddyi_track;
	int r;

	track->locks++;
	while (eddyi_replays && eddyi_track_is_next(track, EDDYI_EVENT_LOCK, track->locks))
		let_holder_run(track);
	r = pthread_mutex_trylock(lock);
	while (r == EBUSY || r == ETIMEDOUT) {
		eddyi_track = NULL;
		r = lock_soon(lock);
		eddyi_track = track;
		/* A replay is only slow, or it ends here. */
		if (r == ETIMEDOUT && (!eddyi_replays || eddyi_track_is_at_end(track)))
			let_holder_run(track);
	}
	return r;
}

/* The turn is taken without the lock, which the thread with the turn may want. */
int eddyi_cond_wait_recorded(pthread_cond_t *changed, pthread_mutex_t *lock)
{
	struct eddyi_track *track = eddyi_track;

	eddyi_blocked_begin();
	eddyi_track = NULL;
	if (!eddyi_replays)
		pthread_cond_wait(changed, lock);
	eddyi_track = track;
	pthread_mutex_unlock(lock);
	eddyi_blocked_end();
	return eddyi_mutex_lock_recorded(lock);
}
