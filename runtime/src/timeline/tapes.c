/* Invariants:
 * 1. The list is changed with the lock held: loops add tapes; ended tapes are removed by the
 *    reader, or without a reader by the loop that ends. So the reader may keep a tape without the
 *    lock. As the reader stops, all tapes that have ended are removed.
 * 2. The reader reads tapes of its own generation only.
 * 3. `passes` counts completed passes. A flush waits for two, since one may be under way when it
 *    starts.
 * 4. Offload jobs are read last, as far as they had ended when the pass began: by then the tracks
 *    that they refer to are named, even if the file ends in the middle of a pass.
 */
#include "tapes.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

/* Threads without a loop share one tape, which they use seldom. */
#define OUTSIDE_BUFFER (256 * EDDY_KIB)

unsigned eddyi_trace_generation;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t passed;
	struct eddy_node list;
	uint64_t passes;
	bool has_reader;
	atomic_bool stopping;
	sem_t called; /* wakes the reader */
	struct eddyi_tapes_settings settings;

	pthread_mutex_t outside_lock;
	struct eddyi_tape *outside;
} tapes = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.passed = PTHREAD_COND_INITIALIZER,
	.list = { &tapes.list, &tapes.list },
	.outside_lock = PTHREAD_MUTEX_INITIALIZER,
};

/* ---- the list ---- */

/* Lock held. */
static struct eddyi_tape *add(uint32_t group, pid_t tid, size_t buffer)
{
	struct eddyi_tape *tape = eddyi_tape_new(buffer);

	if (!tape)
		return NULL;
	tape->generation = tapes.settings.generation;
	tape->first_track = eddyi_tape_last_track() + 1;
	tape->group = group;
	tape->tid = tid;
	tape->began_ns = tapes.settings.began_ns;
	tape->sample = tapes.settings.sample;
	tape->called = &tapes.called;
	eddy_list_append(&tapes.list, &tape->node);
	return tape;
}

/* Lock held. */
static void drop(struct eddyi_tape *tape)
{
	eddy_list_remove(&tape->node);
	eddyi_tape_free(tape);
}

struct eddyi_tape *eddyi_tapes_join(const struct eddy_loop *loop)
{
	struct eddyi_tape *tape = NULL;

	pthread_mutex_lock(&tapes.lock);
	if (tapes.has_reader && !tapes.stopping)
		tape = add(EDDYI_TIMELINE_PROCESS + loop->id, loop->tid, tapes.settings.buffer);
	if (tape)
		snprintf(tape->name, sizeof(tape->name), "loop %u \"%.30s\"", loop->id, loop->name);
	pthread_mutex_unlock(&tapes.lock);
	return tape;
}

void eddyi_tapes_leave(struct eddyi_tape *tape)
{
	pthread_mutex_lock(&tapes.lock);
	tape->ended = true;
	if (!tapes.has_reader)
		drop(tape);
	pthread_mutex_unlock(&tapes.lock);
}

struct eddyi_tape *eddyi_tapes_outside(void)
{
	struct eddyi_tape *tape;

	pthread_mutex_lock(&tapes.outside_lock);
	tape = tapes.outside;
	return tape && eddyi_tape_is_in_slice(tape, eddyi_clock_seen()) ? tape : NULL;
}

void eddyi_tapes_outside_done(void)
{
	pthread_mutex_unlock(&tapes.outside_lock);
}

/* ---- the reader ---- */

/* By the clock of the machine, also in a replay. */
static struct timespec time_in(uint64_t duration_ns)
{
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_nsec + duration_ns;
	return (struct timespec){ .tv_sec = now.tv_sec + (time_t)(ns / EDDY_SECOND),
				  .tv_nsec = (long)(ns % EDDY_SECOND) };
}

void eddyi_tapes_flush(uint64_t timeout_ns)
{
	struct timespec until = time_in(timeout_ns);
	uint64_t enough;
	int r = 0;

	pthread_mutex_lock(&tapes.lock);
	enough = tapes.passes + 2;
	while (tapes.has_reader && tapes.passes < enough && r == 0) {
		sem_post(&tapes.called);
		r = pthread_cond_clockwait(&tapes.passed, &tapes.lock, CLOCK_MONOTONIC, &until);
	}
	pthread_mutex_unlock(&tapes.lock);
}

/* Never destroyed: a late writer may still post it. */
static void init_once(void)
{
	sem_init(&tapes.called, 0, 0);
}

int eddyi_tapes_begin(const struct eddyi_tapes_settings *settings)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct eddyi_tape *tape;

	pthread_once(&once, init_once);
	tapes.settings = *settings;
	atomic_store(&tapes.stopping, false);
	pthread_mutex_lock(&tapes.lock);
	tape = add(EDDYI_TIMELINE_PROCESS, 0, OUTSIDE_BUFFER);
	pthread_mutex_unlock(&tapes.lock);
	if (!tape)
		return -ENOMEM;
	tape->is_named = true;
	tape->span_track = eddyi_tape_name(tape, "spans", NULL, true);
	/* Lock, since a job that began in an earlier timeline may look for it. */
	pthread_mutex_lock(&tapes.outside_lock);
	tapes.outside = tape;
	pthread_mutex_unlock(&tapes.outside_lock);
	return 0;
}

void eddyi_tapes_end(void)
{
	struct eddyi_tape *outside;

	pthread_mutex_lock(&tapes.outside_lock);
	outside = tapes.outside;
	tapes.outside = NULL;
	pthread_mutex_unlock(&tapes.outside_lock);
	pthread_mutex_lock(&tapes.lock);
	if (outside)
		drop(outside);
	pthread_mutex_unlock(&tapes.lock);
}

int eddyi_tapes_start(int (*start)(void))
{
	int r;

	pthread_mutex_lock(&tapes.lock);
	r = start();
	tapes.has_reader = r == 0;
	pthread_mutex_unlock(&tapes.lock);
	return r;
}

void eddyi_tapes_stop(void)
{
	atomic_store(&tapes.stopping, true);
	sem_post(&tapes.called);
}

bool eddyi_tapes_is_stopping(void)
{
	return atomic_load(&tapes.stopping);
}

void eddyi_tapes_wait(uint64_t period_ns)
{
	struct timespec until = time_in(period_ns);

	while (sem_clockwait(&tapes.called, CLOCK_MONOTONIC, &until) < 0 && errno == EINTR)
		;
	while (sem_trywait(&tapes.called) == 0)
		;
}

static size_t head_of(struct eddyi_tape *tape)
{
	atomic_store_explicit(&tape->is_called, false, memory_order_relaxed);
	return atomic_load_explicit(&tape->head, memory_order_acquire);
}

void eddyi_tapes_read(void (*read)(struct eddyi_tape *tape, size_t head))
{
	size_t outside_head = head_of(tapes.outside);
	struct eddy_node *node;

	pthread_mutex_lock(&tapes.lock);
	for (node = tapes.list.next; node != &tapes.list;) {
		struct eddyi_tape *tape = eddy_of(node, struct eddyi_tape, node);
		bool ended = tape->ended;

		pthread_mutex_unlock(&tapes.lock);
		if (tape->generation == tapes.settings.generation && tape != tapes.outside)
			read(tape, head_of(tape));
		pthread_mutex_lock(&tapes.lock);
		node = node->next;
		if (ended)
			drop(tape);
	}
	pthread_mutex_unlock(&tapes.lock);
	read(tapes.outside, outside_head);
}

/* Lock held. */
static void drop_ended(void)
{
	struct eddy_node *node = tapes.list.next;

	while (node != &tapes.list) {
		struct eddyi_tape *tape = eddy_of(node, struct eddyi_tape, node);

		node = node->next;
		if (tape->ended)
			drop(tape);
	}
}

void eddyi_tapes_passed(bool is_last)
{
	pthread_mutex_lock(&tapes.lock);
	tapes.passes++;
	if (is_last) {
		tapes.has_reader = false;
		drop_ended();
	}
	pthread_cond_broadcast(&tapes.passed);
	pthread_mutex_unlock(&tapes.lock);
}

uint32_t eddyi_tapes_group_of(pid_t tid)
{
	uint32_t group = EDDYI_TIMELINE_PROCESS;
	struct eddy_node *node;

	pthread_mutex_lock(&tapes.lock);
	for (node = tapes.list.next; node != &tapes.list; node = node->next) {
		const struct eddyi_tape *tape = eddy_of(node, struct eddyi_tape, node);

		if (tape->tid == tid)
			group = tape->group;
	}
	pthread_mutex_unlock(&tapes.lock);
	return group;
}

void eddyi_tapes_in_child(void)
{
	pthread_mutex_init(&tapes.lock, NULL);
	pthread_mutex_init(&tapes.outside_lock, NULL);
	pthread_cond_init(&tapes.passed, NULL);
	eddy_list_init(&tapes.list);
	if (tapes.outside)
		eddyi_tape_free(tapes.outside);
	tapes.outside = NULL;
	tapes.has_reader = false;
}
