/* watch.h: a replay that is looked at: its events are numbered and listed, it stops at one, or keeps the recorded pace. */
#ifndef EDDYI_WATCH_H
#define EDDYI_WATCH_H

#include <eddy/base.h>
#include <stdatomic.h>

struct io_uring_sqe;

/* Of a replay. eddy-gdb.py reads and writes it. */
extern struct eddyi_replay {
	_Atomic uint64_t events;   /* that have begun, of all threads, */
	_Atomic uint64_t requests; /* requests, */
	_Atomic uint64_t now_ns;   /* and the monotonic clock that was read last */
	uint64_t began_ns;         /* the first one */
	uint64_t last;             /* events of the recording; 0: unknown */
	/* It stops at the first event for which one of these is reached; 0: none. */
	uint64_t until_event, until_request, until_ns;
	bool is_watched; /* the functions below have something to do */
} eddyi_replay;

/* Look as EDDY_REPLAY_PRINT, EDDY_REPLAY_BYTES, EDDY_REPLAY_UNTIL and EDDY_REPLAY_PACE say. Return: NULL, or the one that is wrong. */
const char *eddyi_watch_start(void);

/* For an event of this thread, which has a number: its begin, the arguments of its call, its result, its end. */
void eddyi_watch_begin(unsigned thread, const char *call);
void eddyi_watch_number(uint64_t number);
void eddyi_watch_text(const char *text);
void eddyi_watch_bytes(const void *bytes, size_t len);
void eddyi_watch_result(int64_t result);
void eddyi_watch_end(void);

/* An entry of the ring is submitted or completed, or something else happens to it; NULL: to none. */
void eddyi_watch_entry(const char *what, const struct io_uring_sqe *sqe);

/* Whether the replay has ended before the place that EDDY_REPLAY_UNTIL names. */
bool eddyi_watch_is_waiting(void);

/* The monotonic clock was read. */
void eddyi_watch_clock(uint64_t now_ns);

#endif
