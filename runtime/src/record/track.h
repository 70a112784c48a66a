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
 * A replay that diverges ends the process with status 86, at the event.
 *
 * Only the thread of a track uses it, save where stated.
 */
#ifndef EDDYI_TRACK_H
#define EDDYI_TRACK_H

#include <eddy/base.h>
#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <pthread.h>
#include <stdatomic.h>

struct eddyi_recorded_ring;

/* Exit statuses of a replay. */
enum { EDDYI_REPLAY_REFUSED = 85, EDDYI_REPLAY_DIVERGED = 86 };

/* Kinds of events; that of a direct system call is its place in outside_calls.h. */
enum eddyi_event_kind {
	EDDYI_EVENT_VALUE,
	EDDYI_EVENT_CLOCK,
	EDDYI_EVENT_RANDOM,
	EDDYI_EVENT_BEGIN,   /* of a loop's executor */
	EDDYI_EVENT_ENTER,   /* entries were submitted and completions collected */
	EDDYI_EVENT_WORKERS, /* a limit of kernel workers was set */
	EDDYI_EVENT_BUFFERS, /* a group of buffers was added */
	EDDYI_EVENT_BLOCKED, /* the thread waited for another one, */
	EDDYI_EVENT_LOCK,    /* or for a lock that one keeps */
#define NOW(type, call, ...) EDDYI_EVENT_##call,
#define SYSCALL(type, call, ...) EDDYI_EVENT_##call,
#define BY_HAND(type, call, ...) EDDYI_EVENT_##call,
#define OTHER(type, call, ...) EDDYI_EVENT_##call,
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

struct eddyi_track {
	unsigned number; /* 0 is the main thread's */
	uint8_t *at, *end;
	uint64_t hash, events;
	uint64_t place; /* of the current event among those of all threads, in a replay */
	uint64_t done_hash,
		done_events; /* when an event was last published: a crash may come within one */
	uint64_t task;       /* of the last event; 0: none */
	uint64_t clocks[16];
	enum eddyi_event_kind kind; /* of the current event */
	unsigned locks;             /* calls for a lock since it began */
	unsigned issued;            /* its items so far, */
	uint64_t first;             /* and the first of them: the descriptor */

	struct eddyi_chunk *chunk;  /* of a recording: the current one, */
	struct eddyi_chunk *oldest; /* and the one that the writer takes */
	size_t block;               /* of a replay: the index of the next block */
	uint8_t *unpacked;          /* the current one */

	struct eddyi_recorded_ring *ring;
	uint64_t turn, wanted;    /* the last and the next turn of the thread */
	bool waits;               /* for the latter, */
	pthread_cond_t served;    /* until this */
	struct eddyi_track *next; /* in the list of all tracks */
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

/* Learn the time of a clock. */
uint64_t eddyi_learn_clock(struct eddyi_track *track, int clock);

/* Whether a replay has an event of this kind next, which issues this number first. */
bool eddyi_track_is_next(struct eddyi_track *track, enum eddyi_event_kind kind, uint64_t issued);

/* Whether the recording has no further bytes of a track that is replayed. */
bool eddyi_track_is_at_end(struct eddyi_track *track);

/* End a replay that diverges. */
_Noreturn void eddyi_diverge(struct eddyi_track *track, const char *format, ...) EDDY_PRINTF(2, 3);

/* ---- turns ---- */

/* Add the track of a thread. */
void eddyi_turns_add(struct eddyi_track *track);

/* Let all threads run: the recording has ended early. */
void eddyi_turns_end(void);

/* Get the newest of all tracks. */
struct eddyi_track *eddyi_turns_tracks(void);

/* Give the turn away, and take the next one. Within an event, between its issued and its learned part. */
void eddyi_turn_give(struct eddyi_track *track);
void eddyi_turn_take(struct eddyi_track *track);

/* Get a digest of memory: fast, and not cryptographic. */
uint64_t eddyi_digest(const void *bytes, size_t len);

/* Get the name of a kind of event. */
const char *eddyi_event_name(enum eddyi_event_kind kind);

/* Make the track of a thread. Return: NULL if there is no memory, or the recording has ended. */
struct eddyi_track *eddyi_track_make(void);

/* ---- what a track asks of the recording ---- */

/* Get an empty chunk. Waits while too many are unwritten. Return: NULL if the recording has ended. */
struct eddyi_chunk *eddyi_recording_chunk(void);

/* Whether other threads have to stop: the process ends by a signal. */
extern atomic_bool eddyi_recording_stops;

/* Let the writer take a chunk that is full, or the last one of its thread. */
void eddyi_recording_chunk_full(struct eddyi_chunk *chunk);

/* End the recording because of an error; the process goes on. */
void eddyi_recording_fail(int error);

/* Get the next block of a track that is replayed. Return: false if there is none. */
bool eddyi_recording_next_block(struct eddyi_track *track);

/* End the process as the recorded one ended, or where the recording ends. */
_Noreturn void eddyi_replay_end(void);

/* End a replay early, with a message. */
_Noreturn void eddyi_replay_exit(int status, const char *text);

#endif
