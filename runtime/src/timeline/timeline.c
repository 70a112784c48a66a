#include "timeline.h"

#include "core/task.h"
#include "io/offload_pool.h"
#include "timeline_writer.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/panic.h>
#include <eddy/log.h>
#include <eddy/timeline.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET "eddy::timeline"
#define PATH_DEFAULT "trace-%p.json"
#define BUFFER_DEFAULT EDDY_MIB
#define BUFFER_MIN (64 * EDDY_KIB)
#define BUFFER_MAX EDDY_GIB
#define SAMPLE_MAX 1000000
#define FILE_DEFAULT (256 * EDDY_MIB)
#define LAST_NS (200 * EDDY_MS)
#define FILE_MIN (64 * EDDY_KIB)
/* The longest that a loop's end waits until its marks are written. */
#define PATIENCE_NS EDDY_SECOND

static unsigned generation(void)
{
	return __atomic_load_n(&eddyi_trace_generation, __ATOMIC_RELAXED);
}

/* ---- a loop's tape ---- */

_Thread_local enum eddyi_trace_state eddyi_trace_state;

static struct eddyi_tape *tape_of(struct eddyi_guest *guest)
{
	return eddy_of(guest, struct eddyi_tape, guest);
}

static void leave(struct eddyi_tape *tape)
{
	eddyi_guest_detach(&tape->guest);
	eddyi_trace_state = EDDYI_TRACE_OFF;
	eddyi_tapes_leave(tape);
}

static void worked_between(struct eddyi_guest *guest, enum eddyi_work work, uint64_t count)
{
	struct eddyi_tape *tape = tape_of(guest);

	(void)count;
	if (work == EDDYI_WORK_KERNEL && tape->generation != generation())
		leave(tape);
}

static void worked(struct eddyi_guest *guest, enum eddyi_work work, uint64_t count)
{
	if (work == EDDYI_WORK_KERNEL || count)
		eddyi_tape_worked(tape_of(guest), work, count);
	worked_between(guest, work, count);
}

static const struct eddyi_guest_hooks in_slice = {
	.run = eddyi_tape_run,
	.back = eddyi_tape_back,
	.ready = eddyi_tape_ready,
	.ended = eddyi_tape_ended,
	.start = eddyi_tape_start,
	.completing = eddyi_tape_completing,
	.completed = eddyi_tape_completed,
	.worked = worked,
};

static const struct eddyi_guest_hooks between_slices = {
	.ended = eddyi_tape_ended,
	.worked = worked_between,
};

/* Return: NULL if the loop has none, or with `only_in_slice` records nothing now. */
static struct eddyi_tape *find(const struct eddy_loop *loop, bool only_in_slice)
{
	struct eddyi_guest *guest = eddyi_guest_find(loop, &in_slice);

	if (!guest && !only_in_slice)
		guest = eddyi_guest_find(loop, &between_slices);
	return guest ? tape_of(guest) : NULL;
}

/* Return: NULL if no timeline is recorded. */
static struct eddyi_tape *join(struct eddy_loop *loop)
{
	struct eddyi_tape *tape = eddyi_tapes_join(loop);

	if (!tape)
		return NULL;
	tape->ring_track = eddyi_tape_name(tape, "ring", NULL, true);
	tape->span_track = eddyi_tape_name(tape, "spans", NULL, true);
	eddyi_guest_attach(loop, &tape->guest, &between_slices);
	eddyi_trace_state = EDDYI_TRACE_BETWEEN_SLICES;
	return tape;
}

static void open_at(struct eddy_loop *loop, struct eddyi_tape *tape, uint64_t now)
{
	struct eddy_task *task = loop->running ? loop->running : loop->on_stack.task;

	tape->at_ns = tape->opened_ns = now;
	tape->run.kind = tape->op.kind = EDDYI_MARK_NONE;
	eddyi_guest_change(&tape->guest, &in_slice);
	eddyi_trace_state = EDDYI_TRACE_ON;
	/* Recording began in the middle of a task. */
	if (task)
		eddyi_tape_run(&tape->guest, task);
}

void eddyi_timeline_look(struct eddy_loop *loop)
{
	struct eddyi_tape *tape = find(loop, false);
	uint64_t now;

	if (tape && tape->generation != generation()) {
		leave(tape);
		tape = NULL;
	}
	if (!tape && (!eddyi_timeline_has_begun() || !(tape = join(loop))))
		return;
	now = tape->guest.hooks == &in_slice ? tape->at_ns : eddyi_clock_seen();
	if (now < tape->edge_ns)
		return;
	tape->edge_ns = eddyi_tape_edge_after(tape, now);
	if (!eddyi_tape_is_in_slice(tape, now)) {
		eddyi_guest_change(&tape->guest, &between_slices);
		eddyi_trace_state = EDDYI_TRACE_BETWEEN_SLICES;
	} else if (tape->guest.hooks != &in_slice) {
		open_at(loop, tape, now);
	}
}

void eddyi_timeline_end(struct eddy_loop *loop)
{
	struct eddyi_tape *tape = find(loop, false);

	if (tape)
		leave(tape);
	eddyi_tapes_flush(PATIENCE_NS);
}

/* Record the activity under way up to now: the timeline ends. */
static void cut(struct eddy_loop *loop)
{
	struct eddyi_tape *tape = find(loop, true);

	if (tape) {
		if (tape->run.kind)
			eddyi_tape_back(&tape->guest, NULL);
		eddyi_guest_change(&tape->guest, &between_slices);
	}
	eddyi_trace_state = EDDYI_TRACE_OFF;
}

/* ---- jobs of the offload pool, on the tape of threads without a loop ---- */

static void job_queued(struct eddyi_job *job)
{
	const struct eddyi_tape *tape = find(eddyi_loop(), true);

	/* Those for files are queued by the loop, for a task that it does not know. */
	if (!tape || job->kind == EDDYI_JOB_FILE)
		return;
	job->traced.queued_ns = eddyi_clock_seen();
	job->traced.track = tape->run.track;
	job->traced.group = tape->group;
	job->traced.generation = tape->generation;
}

static void job_begins(struct eddyi_job *job)
{
	if (eddyi_timeline_has_begun())
		job->traced.began_ns = eddyi_clock_seen();
}

/* Get this thread's track on the locked outside tape. Return: 0 if its name does not fit. */
static uint32_t track_of_thread(struct eddyi_tape *tape)
{
	static _Thread_local uint32_t track;

	if (track < tape->first_track)
		track = eddyi_tape_name(tape, "offload", NULL, false);
	return track;
}

static void job_ended(struct eddyi_job *job)
{
	struct eddyi_tape *tape;
	struct eddyi_mark *mark;
	uint32_t track;

	if (!job->traced.began_ns)
		return;
	tape = eddyi_tapes_outside();
	if (tape && (track = track_of_thread(tape)) && (mark = eddyi_tape_take(tape, 0))) {
		*mark = (struct eddyi_mark){
			.kind = EDDYI_MARK_JOB,
			.track = track,
			.begin_ns = job->traced.began_ns,
			.end_ns = eddyi_clock_seen(),
			.job = {
				.queued_ns = job->traced.queued_ns,
				.from = job->traced.generation == tape->generation ? job->traced.track : 0,
				.group = job->traced.group,
				.flow = ++tape->last_flow,
			},
		};
		eddyi_tape_commit(tape, 0);
	}
	eddyi_tapes_outside_done();
}

static const struct eddyi_job_observer job_observer = {
	.queued = job_queued,
	.begins = job_begins,
	.ended = job_ended,
};

/* ---- begin and end ---- */

/* Held while a timeline starts or stops, which changes the generation. */
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;

static void lock_life(const char *who)
{
	/* eddy_trace_stop() holds the lock while it waits for this thread. */
	eddyi_assert(!eddyi_timeline_writer_is_self(),
		     "%s() is called in a log subscriber, for a record that the timeline emits",
		     who);
	pthread_mutex_lock(&life);
}

static void in_child(void)
{
	pthread_mutex_init(&life, NULL);
	eddyi_trace_generation += eddyi_trace_generation & 1;
	eddyi_timeline_writer_in_child();
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

/* Before an abort: write the marks so far, within a short time limit. */
static void write_last(bool in_handler)
{
	/* A tape may be in the middle of an entry. */
	if (in_handler || !eddyi_timeline_has_begun())
		return;
	if (eddy_loop_self())
		cut(eddy_loop_self());
	eddyi_tapes_flush(LAST_NS);
}

static int start(const struct eddyi_timeline_settings *settings)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r = -EBUSY;

	pthread_once(&once, watch_forks);
	eddyi_at_panic(write_last);
	eddyi_offload_observe(&job_observer);
	lock_life("eddy_trace_start");
	if (!(eddyi_trace_generation & 1))
		r = eddyi_timeline_writer_start(settings, eddyi_trace_generation + 1);
	if (r == 0)
		__atomic_add_fetch(&eddyi_trace_generation, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&life);
	/* This loop records from now on, others from their next turn. */
	if (r == 0 && eddy_loop_self())
		eddyi_timeline_look(eddy_loop_self());
	return r;
}

int eddy_trace_start(const struct eddy_trace_options *options)
{
	static const struct eddy_trace_options defaults;
	struct eddyi_timeline_settings settings;

	if (!options)
		options = &defaults;
	settings = (struct eddyi_timeline_settings){
		.path = options->path ? options->path : PATH_DEFAULT,
		.sample = options->sample ? options->sample : 1,
		.buffer = options->buffer ? options->buffer : BUFFER_DEFAULT,
		.file_max = options->file_max ? options->file_max : FILE_DEFAULT,
	};
	if (settings.sample > SAMPLE_MAX || settings.buffer < BUFFER_MIN ||
	    settings.buffer > BUFFER_MAX || settings.file_max < FILE_MIN)
		return -EINVAL;
	return start(&settings);
}

void eddy_trace_stop(void)
{
	lock_life("eddy_trace_stop");
	if (eddyi_trace_generation & 1) {
		if (eddy_loop_self())
			cut(eddy_loop_self());
		__atomic_add_fetch(&eddyi_trace_generation, 1, __ATOMIC_RELEASE);
		eddyi_timeline_writer_stop();
	}
	pthread_mutex_unlock(&life);
}

uint64_t eddy_trace_dropped(void)
{
	return eddyi_timeline_writer_dropped();
}

/* ---- the environment ---- */

/* Parse the number in a variable. Return: 0, also if it is unset; -EINVAL. */
static int read_number(const char *name, uint64_t max, uint64_t *ret_value)
{
	const char *text = secure_getenv(name);
	uint64_t value;

	*ret_value = 0;
	if (!text || !*text)
		return 0;
	if (eddy_str_to_u64(eddy_str_from(text), &value) < 0 || !value || value > max) {
		eddy_error(TARGET, "invalid %s=\"%s\": expected a number from 1 to %llu", name,
			   text, (unsigned long long)max);
		return -EINVAL;
	}
	*ret_value = value;
	return 0;
}

static const char *reason(int error)
{
	switch (error) {
	case -EBUSY:
		return "another process writes to it (\"%p\" in EDDY_TRACE is replaced by the "
		       "process id)";
	case -EINVAL:
		return "EDDY_TRACE_MAX must be at least 65536";
	case -ESPIPE:
		return "it is not a regular file";
	default:
		return strerror(-error);
	}
}

static void start_by_environment(void)
{
	/* A replay does not write over the file of the recorded run. */
	const char *path = secure_getenv(eddyi_is_replay() ? "EDDY_REPLAY_TRACE" : "EDDY_TRACE");
	struct eddy_trace_options options = { .path = path };
	uint64_t sample;
	int r;

	if (!path || !*path || read_number("EDDY_TRACE_SAMPLE", SAMPLE_MAX, &sample) < 0 ||
	    read_number("EDDY_TRACE_MAX", UINT64_MAX / 2, &options.file_max) < 0)
		return;
	options.sample = (unsigned)sample;
	r = eddy_trace_start(&options);
	if (r < 0)
		eddy_error(TARGET, "can't record a timeline to %s: %s", path, reason(r));
	else
		eddy_info(TARGET, "recording a timeline to %s, one slice of 10 ms in %u", path,
			  options.sample ? options.sample : 1);
}

void eddyi_timeline_begin(struct eddy_loop *loop)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	struct eddyi_track *track = eddyi_track;

	/* It observes a recorded run, and its replay as well. */
	eddyi_track = NULL;
	pthread_once(&once, start_by_environment);
	eddyi_timeline_look(loop);
	eddyi_track = track;
}

/* ---- spans ---- */

bool eddy_trace_is_on(void)
{
	bool is_on;

	if (!eddyi_timeline_has_begun())
		return false;
	if (eddy_loop_self())
		return eddyi_trace_state == EDDYI_TRACE_ON;
	is_on = eddyi_tapes_outside();
	eddyi_tapes_outside_done();
	return is_on;
}

void eddy_trace_span(struct eddy_str name, uint64_t begin_ns, uint64_t end_ns,
		     const struct eddy_field *fields)
{
	struct eddy_loop *loop = eddy_loop_self();
	struct eddyi_tape *tape;

	if (!eddyi_timeline_has_begun())
		return;
	if (loop) {
		tape = find(loop, true);
		if (tape)
			eddyi_tape_span(tape, name, begin_ns, end_ns, fields);
		return;
	}
	tape = eddyi_tapes_outside();
	if (tape)
		eddyi_tape_span(tape, name, begin_ns, end_ns, fields);
	eddyi_tapes_outside_done();
}
