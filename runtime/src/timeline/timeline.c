#include "timeline.h"

#include "core/loop.h"
#include "core/tapes.h"
#include "timeline_writer.h"

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
		eddyi_tape_cut(eddy_loop_self());
	eddyi_tapes_flush(LAST_NS);
}

static int start(const struct eddyi_timeline_settings *settings)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r = -EBUSY;

	pthread_once(&once, watch_forks);
	eddyi_at_panic(write_last);
	lock_life("eddy_trace_start");
	if (!(eddyi_trace_generation & 1))
		r = eddyi_timeline_writer_start(settings, eddyi_trace_generation + 1);
	if (r == 0)
		__atomic_add_fetch(&eddyi_trace_generation, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&life);
	/* This loop records from now on, others from their next turn. */
	if (r == 0 && eddy_loop_self())
		eddyi_tape_look(eddy_loop_self());
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
			eddyi_tape_cut(eddy_loop_self());
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
	const char *path = secure_getenv("EDDY_TRACE");
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

void eddyi_timeline_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_by_environment);
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
		if (loop->tape)
			eddyi_tape_span(loop->tape, name, begin_ns, end_ns, fields);
		return;
	}
	tape = eddyi_tapes_outside();
	if (tape)
		eddyi_tape_span(tape, name, begin_ns, end_ns, fields);
	eddyi_tapes_outside_done();
}
