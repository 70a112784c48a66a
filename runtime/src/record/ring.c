/* The executors of a recorded and of a replayed loop. The former lets another executor do the work, and hands on the
 * completions that it has seen; the latter posts those of the recording.
 *
 * Entries have numbers in the order of their submission, by which a recording names them: their user_data is an
 * address.
 *
 * Invariants:
 * 1. The program sees the completion queue up to `tail`, also if more completions come meanwhile.
 * 2. An entry is in `entries` from its submission to its last completion.
 */
#include "entries.h"
#include "watch.h"

#include "base/feature.h"
#include "core/executor.h"
#include "core/loop.h"
#include "core/op.h"
#include "core/recorded.h"
#include "core/task.h"
#include "core/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 256
#define TAG_MASK 7
#define ENTRIES_MAX 65536 /* of a queue of the kernel */

struct entry {
	uint64_t key;    /* user_data in a recording, and else the number; 0: none */
	uint64_t number; /* from 1 */
	struct io_uring_sqe sqe;
};

struct group {
	struct group *next;
	struct io_uring_buf_ring *ring;
	unsigned entries;
	uint16_t number;
	bool is_known;   /* the addresses of the buffers are */
	void *buffers[]; /* by their numbers */
};

struct eddyi_recorded_ring {
	const struct eddyi_executor *executor; /* that does the work; NULL in a replay */
	unsigned *real_tail, *real_flags;      /* of the queues that it fills */
	unsigned tail, flags, head, sq_head;
	unsigned submitted; /* the entries up to here have numbers */
	uint64_t last_number;
	struct entry *entries; /* a hash table */
	size_t room, count;
	struct group *groups;
};

/* ---- entries ---- */

static size_t place_of(const struct eddyi_recorded_ring *ring, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15 >> 32) & (ring->room - 1);
}

static struct entry *find(struct eddyi_recorded_ring *ring, uint64_t key)
{
	size_t at = place_of(ring, key);

	while (ring->entries[at].key && ring->entries[at].key != key)
		at = (at + 1) & (ring->room - 1);
	return &ring->entries[at];
}

static void grow(struct eddyi_recorded_ring *ring)
{
	struct entry *before = ring->entries;
	size_t room = ring->room;

	ring->entries = calloc(2 * room, sizeof(*before));
	eddyi_assert(ring->entries, "out of memory in a recording or replay");
	ring->room = 2 * room;
	for (size_t i = 0; i < room; i++)
		if (before[i].key)
			*find(ring, before[i].key) = before[i];
	free(before);
}

/* Remove an entry, and close the gap. */
static void drop(struct eddyi_recorded_ring *ring, struct entry *entry)
{
	size_t mask = ring->room - 1, gap = (size_t)(entry - ring->entries), at = gap;

	ring->count--;
	for (;;) {
		struct entry *next;

		ring->entries[gap].key = 0;
		do {
			at = (at + 1) & mask;
			next = &ring->entries[at];
			if (!next->key)
				return;
		} while (((at - place_of(ring, next->key)) & mask) < ((at - gap) & mask));
		ring->entries[gap] = *next;
		gap = at;
	}
}

static bool has_number(uint64_t user_data)
{
	return (user_data & TAG_MASK) < EDDYI_OP_TAG_WAKE;
}

/* Get the number of the entry with this user_data. */
static uint64_t number_of(struct eddyi_recorded_ring *ring, uint64_t user_data)
{
	const struct entry *entry = find(ring, user_data);

	if (!eddyi_replays)
		return entry->key ? entry->number : 0;
	for (size_t i = 0; i < ring->room; i++)
		if (ring->entries[i].key && ring->entries[i].sqe.user_data == user_data)
			return ring->entries[i].number;
	return 0;
}

/* The task that waits for the op; 0: none. */
static uint64_t task_of(const struct io_uring_sqe *sqe)
{
	const struct eddy_op *op = (const void *)(uintptr_t)(sqe->user_data & ~(uint64_t)TAG_MASK);

	return op->waiter ? op->waiter->task->id : 0;
}

static void issue(struct eddyi_track *track, const struct io_uring_sqe *sqe)
{
	struct eddyi_recorded_ring *ring = track->ring;
	uint64_t target = 0;
	struct entry *entry;

	if (eddyi_replay.is_watched)
		eddyi_watch_entry("submits", sqe);
	if (eddyi_entry_names_another(sqe))
		target = number_of(ring, sqe->addr);
	if (has_number(sqe->user_data))
		eddyi_issue(track, task_of(sqe));
	eddyi_issue_entry(track, sqe, target);
	ring->last_number++;
	if (!has_number(sqe->user_data))
		return;
	if (2 * (ring->count + 1) > ring->room)
		grow(ring);
	entry = find(ring, eddyi_replays ? ring->last_number : sqe->user_data);
	/* One that has skipped its completion may be there. */
	ring->count += !entry->key;
	*entry = (struct entry){ eddyi_replays ? ring->last_number : sqe->user_data,
				 ring->last_number, *sqe };
}

/* Issue the entries that are new in the queue. */
static void issue_all(struct eddyi_track *track, struct io_uring *uring)
{
	struct eddyi_recorded_ring *ring = track->ring;
	unsigned count = uring->sq.sqe_tail - ring->submitted;

	eddyi_issue(track, count);
	for (; ring->submitted != uring->sq.sqe_tail; ring->submitted++)
		issue(track, &uring->sq.sqes[ring->submitted & uring->sq.ring_mask]);
}

/* ---- completions ---- */

/* Find the buffer that the kernel picked from a group. Each keeps its number. */
static void *picked_of(struct eddyi_recorded_ring *ring, const struct io_uring_sqe *sqe,
		       unsigned flags)
{
	unsigned number = flags >> IORING_CQE_BUFFER_SHIFT;
	struct group *group = ring->groups;

	if (!(flags & IORING_CQE_F_BUFFER))
		return NULL;
	while (group && group->number != sqe->buf_group)
		group = group->next;
	if (!group || number >= group->entries)
		return NULL;
	/* All are in their places until one has been used. */
	for (unsigned i = 0; i < group->entries && !group->is_known; i++)
		group->buffers[group->ring->bufs[i].bid % group->entries] =
			(void *)(uintptr_t)group->ring->bufs[i].addr;
	group->is_known = true;
	return group->buffers[number];
}

/* Learn a completion. */
static void learn(struct eddyi_track *track, struct io_uring_cqe *cqe)
{
	struct eddyi_recorded_ring *ring = track->ring;
	bool is_named;
	struct entry *entry = NULL;
	uint64_t name;

	/* An entry by its number, which is often the last one; others have their user_data. */
	if (!eddyi_replays && has_number(cqe->user_data))
		entry = find(ring, cqe->user_data);
	eddyi_assert(!entry || entry->key,
		     "a completion of %#llx, result %d, flags %#x, is of no recorded entry",
		     (unsigned long long)cqe->user_data, cqe->res, cqe->flags);
	is_named = eddyi_learn(track, entry != NULL);
	name = eddyi_learn(track, entry ? ring->last_number - entry->number : cqe->user_data);
	if (eddyi_replays && is_named) {
		entry = find(ring, ring->last_number - name);
		if (!entry->key)
			eddyi_diverge(track,
				      "a completion is of entry %llu, which is not submitted",
				      (unsigned long long)(ring->last_number - name));
	}
	cqe->user_data = entry ? entry->sqe.user_data : name;
	if (eddyi_replay.is_watched)
		eddyi_watch_entry("completes", entry ? &entry->sqe : NULL);
	cqe->res = (int)eddyi_learn_signed(track, cqe->res);
	cqe->flags = (unsigned)eddyi_learn(track, cqe->flags);
	if (!entry)
		return;
	eddyi_learn_completion(track, &entry->sqe, cqe->res,
			       picked_of(ring, &entry->sqe, cqe->flags));
	if (!(cqe->flags & IORING_CQE_F_MORE))
		drop(ring, entry);
}

static struct io_uring_cqe *cqe_at(struct io_uring *uring, unsigned at)
{
	return &uring->cq.cqes[at & uring->cq.ring_mask];
}

/* ---- turns ---- */

/* Let the executor do its work, with its own queues and unrecorded. */
static int pass_on(struct eddyi_track *track, struct eddy_loop *loop, bool waits,
		   uint64_t timeout_ns)
{
	struct eddyi_recorded_ring *ring = track->ring;
	int r;

	loop->ring.cq.ktail = ring->real_tail;
	loop->ring.sq.kflags = ring->real_flags;
	eddyi_track = NULL;
	r = waits ? ring->executor->wait(loop, timeout_ns) : ring->executor->enter(loop);
	eddyi_track = track;
	loop->ring.cq.ktail = &ring->tail;
	loop->ring.sq.kflags = &ring->flags;
	return r;
}

static int enter(struct eddy_loop *loop, bool waits, uint64_t timeout_ns)
{
	struct eddyi_track *track = eddyi_track;
	struct eddyi_recorded_ring *ring = track->ring;
	unsigned head = *loop->ring.sq.khead, tail = ring->tail, count = 0;
	int r = 0;

	eddyi_event_begin(track, EDDYI_EVENT_ENTER);
	issue_all(track, &loop->ring);
	eddyi_turn_give(track);
	if (!eddyi_replays)
		r = pass_on(track, loop, waits, timeout_ns);
	eddyi_turn_take(track);
	if (!eddyi_replays) {
		tail = io_uring_smp_load_acquire(ring->real_tail);
		ring->flags = *ring->real_flags;
		count = tail - ring->tail;
	}
	if (eddyi_replay.is_watched)
		eddyi_watch_entry("enters", NULL);
	r = (int)eddyi_learn_signed(track, r);
	ring->flags = (unsigned)eddyi_learn(track, ring->flags);
	head = (unsigned)eddyi_learn(track, *loop->ring.sq.khead - head) +
	       (eddyi_replays ? head : 0);
	if (eddyi_replays)
		ring->sq_head = head;
	count = (unsigned)eddyi_learn(track, count);
	if (count > loop->ring.cq.ring_entries)
		eddyi_diverge(track, "the recording has %u completions", count);
	for (; count; count--)
		learn(track, cqe_at(&loop->ring, ring->tail++));
	eddyi_learn_clock(track, CLOCK_MONOTONIC);
	eddyi_event_end(track);
	return r;
}

static int recorded_enter(struct eddy_loop *loop)
{
	return enter(loop, false, 0);
}

static int recorded_wait(struct eddy_loop *loop, uint64_t timeout_ns)
{
	return enter(loop, true, timeout_ns);
}

/* ---- begin and end ---- */

static void recorded_end(struct eddy_loop *loop)
{
	struct eddyi_track *track = eddyi_track;
	struct eddyi_recorded_ring *ring = track->ring;

	if (ring->executor) {
		loop->ring.cq.ktail = ring->real_tail;
		loop->ring.sq.kflags = ring->real_flags;
		eddyi_track = NULL;
		ring->executor->end(loop);
		eddyi_track = track;
	} else {
		free(loop->ring.sq.sqes);
		free(loop->ring.cq.cqes);
	}
	while (ring->groups) {
		struct group *next = ring->groups->next;

		free(ring->groups);
		ring->groups = next;
	}
	free(ring->entries);
	free(ring);
	track->ring = NULL;
}

static int recorded_limit_workers(struct eddy_loop *loop, unsigned max)
{
	struct eddyi_track *track = eddyi_track;
	int r = 0;

	eddyi_event_begin(track, EDDYI_EVENT_WORKERS);
	eddyi_issue(track, max);
	if (track->ring->executor)
		r = track->ring->executor->limit_workers(loop, max);
	r = (int)eddyi_learn_signed(track, r);
	loop->stats.io_workers_max = eddyi_learn(track, loop->stats.io_workers_max);
	eddyi_event_end(track);
	return r;
}

static int recorded_add_buffers(struct eddy_loop *loop, struct io_uring_buf_reg *reg)
{
	struct eddyi_track *track = eddyi_track;
	struct eddyi_recorded_ring *ring = track->ring;
	struct group *group =
		calloc(1, sizeof(*group) + reg->ring_entries * sizeof(group->buffers[0]));
	int r = 0;

	if (!group)
		return -ENOMEM;
	eddyi_event_begin(track, EDDYI_EVENT_BUFFERS);
	eddyi_issue(track, reg->bgid);
	if (ring->executor)
		r = ring->executor->add_buffers(loop, reg);
	r = (int)eddyi_learn_signed(track, r);
	eddyi_event_end(track);
	if (r < 0) {
		free(group);
		return r;
	}
	group->ring = (void *)(uintptr_t)reg->ring_addr;
	group->entries = reg->ring_entries;
	group->number = reg->bgid;
	group->next = ring->groups;
	ring->groups = group;
	return 0;
}

static void recorded_remove_buffers(struct eddy_loop *loop, int number)
{
	struct eddyi_recorded_ring *ring = eddyi_track->ring;
	struct group **at = &ring->groups, *group;

	while ((*at)->number != number)
		at = &(*at)->next;
	group = *at;
	*at = group->next;
	free(group);
	if (ring->executor)
		ring->executor->remove_buffers(loop, number);
}

/* Loops are woken by their eventfd: whether another one sleeps is not recorded. */
static const struct eddyi_executor recorded_executor = {
	.name = "recorded",
	.call = "io_uring_enter",
	.begin = NULL,
	.end = recorded_end,
	.enter = recorded_enter,
	.wait = recorded_wait,
	.limit_workers = recorded_limit_workers,
	.add_buffers = recorded_add_buffers,
	.remove_buffers = recorded_remove_buffers,
};

static int begin_queues(struct eddyi_recorded_ring *ring, struct io_uring *uring, unsigned sq,
			unsigned cq)
{
	*uring = (struct io_uring){
		.sq = {
			.khead = &ring->sq_head,
			.kflags = &ring->flags,
			.sqes = calloc(sq, sizeof(struct io_uring_sqe)),
			.ring_mask = sq - 1,
			.ring_entries = sq,
		},
		.cq = {
			.khead = &ring->head,
			.ktail = &ring->tail,
			.cqes = calloc(cq, sizeof(struct io_uring_cqe)),
			.ring_mask = cq - 1,
			.ring_entries = cq,
		},
		.ring_fd = -1,
		.enter_ring_fd = -1,
	};
	return uring->sq.sqes && uring->cq.cqes ? 0 : -ENOMEM;
}

int eddyi_recorded_begin(struct eddy_loop *loop, unsigned entries,
			 int (*begin)(struct eddy_loop *loop, unsigned entries))
{
	struct eddyi_track *track = eddyi_track;
	struct eddyi_recorded_ring *ring = calloc(1, sizeof(*ring));
	struct io_uring *uring = &loop->ring;
	unsigned sq, cq;
	uint64_t features = 0;
	int r = 0;

	if (!ring)
		return -ENOMEM;
	eddyi_event_begin(track, EDDYI_EVENT_BEGIN);
	eddyi_issue(track, entries);
	if (!eddyi_replays) {
		eddyi_track = NULL;
		r = begin(loop, entries);
		features = eddyi_feature_all();
		eddyi_track = track;
		ring->executor = loop->executor;
	}
	r = (int)eddyi_learn_signed(track, r);
	features = eddyi_learn(track, features);
	sq = (unsigned)eddyi_learn(track, r < 0 ? 0 : uring->sq.ring_entries);
	cq = (unsigned)eddyi_learn(track, r < 0 ? 0 : uring->cq.ring_entries);
	eddyi_event_end(track);
	ring->room = ROOM_FIRST;
	ring->entries = calloc(ring->room, sizeof(*ring->entries));
	/* The file may be damaged. */
	if (r == 0 && !ring->executor &&
	    (!sq || !cq || sq & (sq - 1) || cq & (cq - 1) || sq > ENTRIES_MAX || cq > ENTRIES_MAX))
		eddyi_diverge(track, "the queues have %u and %u entries", sq, cq);
	if (r == 0 && !ring->executor) {
		eddyi_track = NULL;
		eddyi_feature_assume(features);
		eddyi_track = track;
		r = begin_queues(ring, uring, sq, cq);
	}
	if (r < 0 || !ring->entries) {
		free(ring->entries);
		free(ring);
		return r < 0 ? r : -ENOMEM;
	}
	if (ring->executor) {
		ring->real_tail = uring->cq.ktail;
		ring->real_flags = uring->sq.kflags;
		ring->tail = *ring->real_tail;
		uring->cq.ktail = &ring->tail;
		uring->sq.kflags = &ring->flags;
		ring->submitted = uring->sq.sqe_tail;
	}
	track->ring = ring;
	loop->executor = &recorded_executor;
	return 0;
}
