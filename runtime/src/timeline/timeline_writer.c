/* Invariants:
 * 1. The list of tapes is changed with the lock held: loops add theirs; the writer takes out those that have
 *    ended, or, where there is no writer, whoever ends one. So the writer may stand at a tape without the lock.
 *    As it says that there is none any more it takes out all that have ended until then.
 * 2. The writer reads tapes of its own generation only.
 * 3. A pass of the writer reads all tapes, and `passes` counts those that are over: who waits for two has all
 *    written that was on a tape before, since one may have been under way.
 * 4. Jobs are written last, as far as they had ended when the pass began: by then the tracks that they come from are
 *    named. So it is where the file ends in the middle of a pass, too.
 */
#include "timeline_writer.h"

#include "iowq.h"
#include "core/loop.h"
#include "base/thread.h"
#include "core/timeline.h"
#include "timeline_file.h"
#include "timeline_json.h"

#include <eddy/log.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TARGET "eddy::timeline"
/* So often what there is is written, also when it is little: so much is lost in a crash. */
#define PERIOD_NS (100 * EDDY_MS)
/* What is written at once; tapes have room again after each of them. */
#define TEXT_SIZE (64 * EDDY_KIB)
/* Threads that are no loop's share one tape, which is used seldom. */
#define OUTSIDE_BUFFER (256 * EDDY_KIB)

static struct {
	pthread_mutex_t lock;
	pthread_cond_t passed;
	struct eddy_node tapes;
	uint64_t passes;
	bool has_writer;
	atomic_uint last_track;
	atomic_bool stopping;
	sem_t called; /* the writer has something to do */
	_Atomic(uint64_t) dropped;

	/* Set before the writer starts. */
	pthread_t thread;
	unsigned generation;
	unsigned sample;
	size_t buffer;
	uint64_t began_ns;

	/* The writer's. */
	struct eddyi_timeline_file file;
	struct eddyi_text text;
	uint64_t records; /* in the text */
	bool is_told;     /* that the file can't be written */

	pthread_mutex_t outside_lock;
	struct eddyi_tape *outside;
} timeline = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.passed = PTHREAD_COND_INITIALIZER,
	.tapes = { &timeline.tapes, &timeline.tapes },
	.file = { .fd = -1 },
	.outside_lock = PTHREAD_MUTEX_INITIALIZER,
};

uint32_t eddyi_timeline_new_track(void)
{
	return atomic_fetch_add(&timeline.last_track, 1) + 1;
}

uint64_t eddyi_timeline_writer_dropped(void)
{
	return atomic_load(&timeline.dropped);
}

void eddyi_timeline_call(void)
{
	sem_post(&timeline.called);
}

/* ---- the list of tapes ---- */

/* Lock held. */
static struct eddyi_tape *add_tape(uint32_t group, pid_t tid, size_t buffer)
{
	struct eddyi_tape *tape = eddyi_tape_new(buffer);

	if (!tape)
		return NULL;
	tape->generation = timeline.generation;
	tape->first_track = atomic_load(&timeline.last_track) + 1;
	tape->group = group;
	tape->tid = tid;
	tape->began_ns = timeline.began_ns;
	tape->sample = timeline.sample;
	eddy_list_append(&timeline.tapes, &tape->node);
	return tape;
}

struct eddyi_tape *eddyi_timeline_join(const struct eddy_loop *loop)
{
	struct eddyi_tape *tape = NULL;

	pthread_mutex_lock(&timeline.lock);
	if (timeline.has_writer && !timeline.stopping)
		tape = add_tape(EDDYI_TIMELINE_PROCESS + loop->id, loop->tid, timeline.buffer);
	if (tape)
		snprintf(tape->name, sizeof(tape->name), "loop %u \"%.30s\"", loop->id, loop->name);
	pthread_mutex_unlock(&timeline.lock);
	return tape;
}

/* Lock held. */
static void drop_tape(struct eddyi_tape *tape)
{
	eddy_list_remove(&tape->node);
	eddyi_tape_free(tape);
}

void eddyi_timeline_leave(struct eddyi_tape *tape)
{
	pthread_mutex_lock(&timeline.lock);
	tape->ended = true;
	if (!timeline.has_writer)
		drop_tape(tape);
	pthread_mutex_unlock(&timeline.lock);
}

struct eddyi_tape *eddyi_timeline_outside(void)
{
	struct eddyi_tape *tape;

	pthread_mutex_lock(&timeline.outside_lock);
	tape = timeline.outside;
	return tape && eddyi_tape_is_in_slice(tape, eddy_now()) ? tape : NULL;
}

void eddyi_timeline_outside_done(void)
{
	pthread_mutex_unlock(&timeline.outside_lock);
}

/* ---- the writer ---- */

static void drop(uint64_t records)
{
	eddyi_timeline_file_drop(&timeline.file, records);
	atomic_store(&timeline.dropped, timeline.file.dropped);
}

static void write_text(void)
{
	struct eddyi_text *text = &timeline.text;
	int r;

	if (text->at == text->begin)
		return;
	r = eddyi_timeline_file_append(&timeline.file, text->begin,
				       (size_t)(text->at - text->begin), timeline.records);
	text->at = text->begin;
	timeline.records = 0;
	atomic_store(&timeline.dropped, timeline.file.dropped);
	if (r == 0 || timeline.is_told)
		return;
	timeline.is_told = true;
	eddy_warn(TARGET, "the timeline ends here, what comes later is dropped: %s", strerror(-r));
}

/* One that begins now fits. Towards the end of the file less is written at once, since a piece that does not fit is lost
 * as a whole. */
static bool has_room(void)
{
	size_t len = (size_t)(timeline.text.at - timeline.text.begin);

	return len < TEXT_SIZE && len < eddyi_timeline_file_room(&timeline.file) / 2;
}

static void tell_dropped(struct eddyi_tape *tape)
{
	uint64_t dropped = __atomic_load_n(&tape->dropped, __ATOMIC_ACQUIRE);

	if (dropped == tape->dropped_told)
		return;
	eddyi_timeline_json_dropped(&timeline.text, tape, eddy_now(), dropped - tape->dropped_told);
	drop(dropped - tape->dropped_told);
	tape->dropped_told = dropped;
}

static size_t head_of(struct eddyi_tape *tape)
{
	atomic_store_explicit(&tape->is_called, false, memory_order_relaxed);
	return atomic_load_explicit(&tape->head, memory_order_acquire);
}

/* Up to `head`. */
static void read_tape(struct eddyi_tape *tape, size_t head)
{
	size_t tail = atomic_load_explicit(&tape->tail, memory_order_relaxed);

	if (tail != head && !tape->is_named) {
		eddyi_timeline_json_group(&timeline.text, tape->group, tape->name);
		tape->is_named = true;
	}
	while (tail != head) {
		unsigned more = eddyi_tape_at(tape, tail)->more;

		eddyi_timeline_json_mark(&timeline.text, tape, tail);
		timeline.records++;
		tail += 1 + more;
		if (!has_room() || tail == head) {
			atomic_store_explicit(&tape->tail, tail, memory_order_release);
			write_text();
		}
	}
	tell_dropped(tape);
	write_text();
}

static void read_tapes(void)
{
	size_t outside_head = head_of(timeline.outside);
	struct eddy_node *node;

	pthread_mutex_lock(&timeline.lock);
	for (node = timeline.tapes.next; node != &timeline.tapes;) {
		struct eddyi_tape *tape = eddy_of(node, struct eddyi_tape, node);
		bool ended = tape->ended;

		pthread_mutex_unlock(&timeline.lock);
		if (tape->generation == timeline.generation && tape != timeline.outside)
			read_tape(tape, head_of(tape));
		pthread_mutex_lock(&timeline.lock);
		node = node->next;
		if (ended)
			drop_tape(tape);
	}
	pthread_mutex_unlock(&timeline.lock);
	read_tape(timeline.outside, outside_head);
}

/* The group of the loop whose ring it is; where the kernel's numbers are not the process's, the process. */
static uint32_t group_of(pid_t owner)
{
	uint32_t group = EDDYI_TIMELINE_PROCESS;
	struct eddy_node *node;

	pthread_mutex_lock(&timeline.lock);
	for (node = timeline.tapes.next; node != &timeline.tapes; node = node->next) {
		const struct eddyi_tape *tape = eddy_of(node, struct eddyi_tape, node);

		if (tape->tid == owner)
			group = tape->group;
	}
	pthread_mutex_unlock(&timeline.lock);
	return group;
}

/* ---- the thread ---- */

static _Thread_local bool is_writer;

bool eddyi_timeline_writer_is_self(void)
{
	return is_writer;
}

/* Lock held. */
static void end_writing(void)
{
	struct eddy_node *node = timeline.tapes.next;

	timeline.has_writer = false;
	while (node != &timeline.tapes) {
		struct eddyi_tape *tape = eddy_of(node, struct eddyi_tape, node);

		node = node->next;
		if (tape->ended)
			drop_tape(tape);
	}
}

static struct timespec time_at(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / EDDY_SECOND),
				  .tv_nsec = (long)(ns % EDDY_SECOND) };
}

static void wait_for_call(void)
{
	struct timespec until = time_at(eddy_now() + PERIOD_NS);

	while (sem_clockwait(&timeline.called, CLOCK_MONOTONIC, &until) < 0 && errno == EINTR)
		;
	while (sem_trywait(&timeline.called) == 0)
		;
}

static void *writer_main(void *arg)
{
	bool is_last;

	(void)arg;
	is_writer = true;
	pthread_setname_np(pthread_self(), "eddy-timeline");
	do {
		wait_for_call();
		is_last = atomic_load(&timeline.stopping);
		read_tapes();
		eddyi_iowq_tell(&timeline.text, group_of);
		write_text();
		eddyi_timeline_file_settle(&timeline.file);
		pthread_mutex_lock(&timeline.lock);
		timeline.passes++;
		if (is_last)
			end_writing();
		pthread_cond_broadcast(&timeline.passed);
		pthread_mutex_unlock(&timeline.lock);
	} while (!is_last);
	return NULL;
}

void eddyi_timeline_flush(uint64_t timeout_ns)
{
	struct timespec until = time_at(eddy_now() + timeout_ns);
	uint64_t enough;
	int r = 0;

	pthread_mutex_lock(&timeline.lock);
	enough = timeline.passes + 2;
	while (timeline.has_writer && timeline.passes < enough && r == 0) {
		sem_post(&timeline.called);
		r = pthread_cond_clockwait(&timeline.passed, &timeline.lock, CLOCK_MONOTONIC,
					   &until);
	}
	pthread_mutex_unlock(&timeline.lock);
}

static int open_file(const struct eddyi_timeline_settings *settings)
{
	char first[512];
	char name[64];
	struct eddyi_text text = { first, first };

	snprintf(name, sizeof(name), "%.40s (%d)", program_invocation_short_name, (int)getpid());
	eddyi_timeline_json_group(&text, EDDYI_TIMELINE_PROCESS, name);
	*text.at = '\0';
	/* Nothing stands before it. */
	return eddyi_timeline_file_open(&timeline.file, settings->path, settings->file_max,
					settings->sample, timeline.began_ns, first + strlen(",\n"));
}

static void deinit(void)
{
	struct eddyi_tape *outside;
	char *text = timeline.text.begin;

	pthread_mutex_lock(&timeline.outside_lock);
	outside = timeline.outside;
	timeline.outside = NULL;
	pthread_mutex_unlock(&timeline.outside_lock);
	pthread_mutex_lock(&timeline.lock);
	if (outside)
		drop_tape(outside);
	pthread_mutex_unlock(&timeline.lock);
	/* In this order: a child that is forked meanwhile frees what is still there. */
	timeline.text.begin = timeline.text.at = NULL;
	free(text);
	eddyi_timeline_file_close(&timeline.file);
}

static int init_outside(void)
{
	struct eddyi_tape *tape;

	pthread_mutex_lock(&timeline.lock);
	tape = add_tape(EDDYI_TIMELINE_PROCESS, 0, OUTSIDE_BUFFER);
	pthread_mutex_unlock(&timeline.lock);
	if (!tape)
		return -ENOMEM;
	tape->is_named = true;
	tape->span_track = eddyi_tape_name(tape, "spans", NULL, 0, true);
	/* A job that began in an earlier timeline may look for it. */
	pthread_mutex_lock(&timeline.outside_lock);
	timeline.outside = tape;
	pthread_mutex_unlock(&timeline.outside_lock);
	return 0;
}

/* For good: who writes a tape may call late. */
static void init_once(void)
{
	sem_init(&timeline.called, 0, 0);
}

/* Without the lock, which loops take as they end, and a panic: the file's system may take its time. */
static int init(const struct eddyi_timeline_settings *settings, unsigned generation)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r;

	pthread_once(&once, init_once);
	timeline.generation = generation;
	timeline.sample = settings->sample;
	timeline.buffer = settings->buffer;
	timeline.began_ns = eddy_now();
	eddyi_timeline_json_begin(timeline.began_ns);
	timeline.records = 0;
	eddyi_iowq_reset();
	timeline.is_told = false;
	atomic_store(&timeline.dropped, 0);
	atomic_store(&timeline.stopping, false);
	timeline.text.begin = timeline.text.at = malloc(TEXT_SIZE + EDDYI_TIMELINE_EVENTS_MAX);
	if (!timeline.text.begin)
		return -ENOMEM;
	r = open_file(settings);
	if (r == 0)
		r = init_outside();
	return r;
}

int eddyi_timeline_writer_start(const struct eddyi_timeline_settings *settings, unsigned generation)
{
	int r = init(settings, generation);

	if (r == 0) {
		pthread_mutex_lock(&timeline.lock);
		r = eddyi_thread_start(&timeline.thread, writer_main);
		timeline.has_writer = r == 0;
		pthread_mutex_unlock(&timeline.lock);
	}
	if (r < 0)
		deinit();
	return r;
}

void eddyi_timeline_writer_stop(void)
{
	atomic_store(&timeline.stopping, true);
	sem_post(&timeline.called);
	pthread_join(timeline.thread, NULL);
	deinit();
}

void eddyi_timeline_writer_in_child(void)
{
	pthread_mutex_init(&timeline.lock, NULL);
	pthread_mutex_init(&timeline.outside_lock, NULL);
	pthread_cond_init(&timeline.passed, NULL);
	/* What is on the tapes is the parent's. Those of loops stay with them. */
	eddy_list_init(&timeline.tapes);
	if (timeline.outside)
		eddyi_tape_free(timeline.outside);
	timeline.outside = NULL;
	free(timeline.text.begin);
	timeline.text.begin = timeline.text.at = NULL;
	timeline.has_writer = false;
	eddyi_timeline_file_close(&timeline.file);
}
