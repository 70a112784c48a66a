/* track.h: the track of a thread: the events at which it met the world outside, in their order.
 *
 * An event has two parts. The issued part (task, call, arguments, a digest of the bytes that are sent)
 * is determined by the program: a replay compares it, and both hash it. The learned part (results,
 * bytes that the kernel wrote) is recorded, and a replay reads it. The same functions do both, so a
 * call is described once:
 *
 *     eddyi_event_begin(track, kind);
 *     eddyi_issue(track, fd);
 *     r = eddyi_learn(track, is_replay ? 0 : close(fd));
 *     eddyi_event_end(track);
 *
 * A replay that goes another way ends the process with status 86, at the event.
 *
 * Only the thread of a track uses it, save where stated.
 */
#ifndef EDDYI_TRACK_H
#define EDDYI_TRACK_H

#include <eddy/base.h>
#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <stdatomic.h>

struct eddyi_job;
struct eddyi_recorded_ring;

/* Exit statuses of a replay. */
enum { EDDYI_REPLAY_REFUSED = 85, EDDYI_REPLAY_DIVERGED = 86 };

/* Kinds of events; that of a direct system call is its place in outside_calls.h. */
enum eddyi_event_kind {
	EDDYI_EVENT_VALUE,
	EDDYI_EVENT_CLOCK,
	EDDYI_EVENT_RANDOM,
	EDDYI_EVENT_BEGIN,    /* of a loop's executor */
	EDDYI_EVENT_ENTER,    /* entries were submitted and completions collected */
	EDDYI_EVENT_WORKERS,  /* a limit of kernel workers was set */
	EDDYI_EVENT_BUFFERS,  /* a group of buffers was added */
	EDDYI_EVENT_MESSAGES, /* messages were delivered */
	EDDYI_EVENT_LOCK,     /* a mutex that loops share was locked */
#define NOW(type, call, ...) EDDYI_EVENT_##call,
#define SYSCALL(type, call, ...) EDDYI_EVENT_##call,
#define BY_HAND(type, call, ...) EDDYI_EVENT_##call,
#include <eddy/internal/outside_calls.h>
#undef NOW
#undef SYSCALL
#undef BY_HAND
	EDDYI_EVENTS
};

#define EDDYI_CHUNK_SIZE ((size_t)(256 * EDDY_KIB))

/* A part of a track that is being recorded. Its bytes up to `len` are complete events. */
struct eddyi_chunk {
	struct eddyi_chunk *next; /* set before `is_full` */
	atomic_size_t len;
	atomic_bool is_full;
	size_t written; /* by the writer */
	uint8_t bytes[EDDYI_CHUNK_SIZE];
};

enum eddyi_track_state {
	EDDYI_TRACK_RECORDED,
	EDDYI_TRACK_REPLAYED,
	EDDYI_TRACK_ENDED, /* of a recording: calls are made, and not recorded any more */
};

/* How far a thread has come in a replay of several. */
enum eddyi_progress { EDDYI_RUNS, EDDYI_WAITS, EDDYI_AT_END };

struct eddyi_track {
	enum eddyi_track_state state;
	unsigned number; /* 0 is the main thread's */
	uint8_t *at, *end;
	uint64_t hash;
	uint64_t events;
	uint64_t task; /* of the last event; 0: none */
	uint64_t clocks[16];
	enum eddyi_event_kind kind; /* of the current event */
	unsigned issued;            /* its items so far */

	struct eddyi_chunk *chunk;  /* of a recording: the current one, */
	struct eddyi_chunk *oldest; /* and the one that the writer takes */
	size_t block;               /* of a replay: the index of the next block */
	uint8_t *unpacked;          /* the current one */

	uint64_t job;                       /* of a job's track: its number, from 1 */
	uint64_t jobs;                      /* submitted by this thread */
	uint64_t posts;                     /* messages posted by this thread */
	struct eddyi_track *parent;         /* of a job's track: that of the thread */
	_Atomic(struct eddyi_track *) done; /* jobs that have ended, by the pool's threads */
	struct eddyi_track *kept;           /* those of them whose message is not delivered yet */
	struct eddyi_job *unrun;            /* of a replay: jobs that have not run */
	struct eddy_message *early;         /* of a replay: messages that are not delivered yet */
	struct eddyi_recorded_ring *ring;
	_Atomic(enum eddyi_progress) progress; /* of a replay */
	struct eddyi_track *next;              /* in the list of all tracks */
};

/* Begin an event of the running task. */
void eddyi_event_begin(struct eddyi_track *track, enum eddyi_event_kind kind);
void eddyi_event_end(struct eddyi_track *track);

/* Let the writer have what is recorded of the current event, before the thread may sleep in it. */
void eddyi_event_publish(struct eddyi_track *track);

/* Issue a number, a string or NULL, or memory. */
void eddyi_issue(struct eddyi_track *track, uint64_t number);
void eddyi_issue_text(struct eddyi_track *track, const char *text);
void eddyi_issue_bytes(struct eddyi_track *track, const void *bytes, size_t len);

/* Learn a number. Return: `number` in a recording, the recorded one in a replay. */
uint64_t eddyi_learn(struct eddyi_track *track, uint64_t number);
int64_t eddyi_learn_signed(struct eddyi_track *track, int64_t number);

/* Learn memory: `bytes` is read in a recording and written in a replay. */
void eddyi_learn_bytes(struct eddyi_track *track, void *bytes, size_t len);

/* Learn the bytes of a message, of which `len` were received. */
struct iovec;
void eddyi_learn_parts(struct eddyi_track *track, const struct iovec *parts, size_t count,
		       size_t len);
void eddyi_issue_parts(struct eddyi_track *track, const struct iovec *parts, size_t count);

/* Add what a job has issued. */
void eddyi_issue_job(struct eddyi_track *track, const struct eddyi_track *job);

/* Get the kind of the next event of a replay. Return: EDDYI_EVENTS at the end. */
enum eddyi_event_kind eddyi_event_next(struct eddyi_track *track);

/* End a replay that goes another way. */
_Noreturn void eddyi_diverge(struct eddyi_track *track, const char *format, ...) EDDY_PRINTF(2, 3);

/* Take the next turn in the order of all threads, in a replay the recorded one: it is this thread's until
 * eddyi_turn_end(). */
void eddyi_turn_begin(struct eddyi_track *track);
void eddyi_turn_end(struct eddyi_track *track);

/* Get a digest of memory: fast, and not for enemies. */
uint64_t eddyi_digest(const void *bytes, size_t len);

/* Get the name of a kind of event. */
const char *eddyi_event_name(enum eddyi_event_kind kind);

/* Make tracks. A thread's track is added to the list that the writer takes from. */
struct eddyi_track *eddyi_track_make(enum eddyi_track_state state, unsigned number);
void eddyi_track_free(struct eddyi_track *track);

/* ---- what a track asks of the recording ---- */

/* Get an empty chunk. Waits while too many are unwritten. Return: NULL without memory. */
struct eddyi_chunk *eddyi_recording_chunk(void);

void eddyi_recording_chunk_free(struct eddyi_chunk *chunk);

/* Let the writer take full chunks. */
void eddyi_recording_wake(void);

/* End the recording because of an error; the process goes on. */
void eddyi_recording_fail(int error);

/* Wait in a replay for what another thread does. */
void eddyi_replay_await(struct eddyi_track *track, bool (*is_true)(void *arg), void *arg);

/* Get the next block of a track that is replayed. Return: false if there is none. */
bool eddyi_recording_next_block(struct eddyi_track *track);

/* End the process as the recorded one ended, or where the recording ends. */
_Noreturn void eddyi_replay_ran_out(struct eddyi_track *track);

/* End a replay early, with a message. */
_Noreturn void eddyi_replay_exit(int status, const char *text);

#endif
