#include "timeline_writer.h"

#include "iowq.h"
#include "tapes.h"
#include "base/thread.h"
#include "timeline_file.h"
#include "timeline_json.h"

#include <eddy/log.h>
#include <eddy/loop.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET "eddy::timeline"
/* Time between writes, even of little data; the most that is lost in a crash. */
#define PERIOD_NS (100 * EDDY_MS)
/* Size of a write, after which tapes have room again. */
#define TEXT_SIZE (64 * EDDY_KIB)

static struct {
	pthread_t thread;
	_Atomic(uint64_t) dropped;

	/* Of the thread. */
	struct eddyi_timeline_file file;
	char *begin; /* of the text */
	struct eddyi_text text;
	uint64_t records; /* in `text` */
	bool is_told;     /* the failure to write was reported */
} timeline = {
	.file = { .fd = -1 },
};

uint64_t eddyi_timeline_writer_dropped(void)
{
	return atomic_load(&timeline.dropped);
}

static void drop(uint64_t records)
{
	eddyi_timeline_file_drop(&timeline.file, records);
	atomic_store(&timeline.dropped, timeline.file.dropped);
}

static size_t text_len(void)
{
	return (size_t)(timeline.text.at - timeline.begin);
}

static void write_text(void)
{
	int r;

	if (!text_len())
		return;
	r = eddyi_timeline_file_append(&timeline.file, timeline.begin, text_len(),
				       timeline.records);
	timeline.text.at = timeline.begin;
	timeline.records = 0;
	atomic_store(&timeline.dropped, timeline.file.dropped);
	if (r == 0 || timeline.is_told)
		return;
	timeline.is_told = true;
	eddy_warn(TARGET, "the timeline ends here, later events are dropped: %s", strerror(-r));
}

/* Whether another mark fits. Near the end of the file less is written at once, since a piece that
 * does not fit is lost completely. */
static bool has_room(void)
{
	return text_len() < TEXT_SIZE && text_len() < eddyi_timeline_file_room(&timeline.file) / 2;
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

/* Write the tape's marks up to `head`. */
static void read_tape(struct eddyi_tape *tape, size_t head)
{
	size_t tail = atomic_load_explicit(&tape->tail, memory_order_relaxed);

	if (tail != head && !tape->is_named) {
		eddyi_timeline_json_group(&timeline.text, tape->group, tape->name);
		tape->is_named = true;
	}
	while (tail != head) {
		unsigned more = eddyi_tape_at(tape, tail)->more;
		char *begin = timeline.text.at;

		eddyi_timeline_json_mark(&timeline.text, tape, tail);
		if (timeline.text.full) {
			/* Incomplete. */
			timeline.text.at = begin;
			timeline.text.full = false;
			drop(1);
		} else {
			timeline.records++;
		}
		tail += 1 + more;
		if (!has_room() || tail == head) {
			atomic_store_explicit(&tape->tail, tail, memory_order_release);
			write_text();
		}
	}
	tell_dropped(tape);
	write_text();
}

/* ---- the thread ---- */

static _Thread_local bool is_writer;

bool eddyi_timeline_writer_is_self(void)
{
	return is_writer;
}

static void *writer_main(void *arg)
{
	bool is_last;

	(void)arg;
	is_writer = true;
	pthread_setname_np(pthread_self(), "eddy-timeline");
	do {
		eddyi_tapes_wait(PERIOD_NS);
		is_last = eddyi_tapes_is_stopping();
		eddyi_tapes_read(read_tape);
		eddyi_iowq_tell(&timeline.text, eddyi_tapes_group_of);
		write_text();
		eddyi_timeline_file_settle(&timeline.file);
		eddyi_tapes_passed(is_last);
	} while (!is_last);
	return NULL;
}

static int open_file(const struct eddyi_timeline_settings *settings, uint64_t began_ns)
{
	char first[1024];
	char name[64];
	struct eddyi_text text = { .at = first, .end = first + sizeof(first) - 1 };

	snprintf(name, sizeof(name), "%.40s (%d)", program_invocation_short_name, (int)getpid());
	eddyi_timeline_json_group(&text, EDDYI_TIMELINE_PROCESS, name);
	*text.at = '\0';
	/* Without a comma: it is the first event. */
	return eddyi_timeline_file_open(&timeline.file, settings->path, settings->file_max,
					settings->sample, began_ns, first + strlen(",\n"));
}

static void deinit(void)
{
	char *text = timeline.begin;

	eddyi_tapes_end();
	/* In this order: a child forked meanwhile frees `timeline.begin` if set. */
	timeline.begin = NULL;
	free(text);
	eddyi_timeline_file_close(&timeline.file);
}

/* Without the lock of tapes, which ending loops and panics take: the file system may be slow. */
static int init(const struct eddyi_timeline_settings *settings, unsigned generation)
{
	const struct eddyi_tapes_settings tapes = {
		.generation = generation,
		.sample = settings->sample,
		.buffer = settings->buffer,
		.began_ns = eddy_now(),
	};
	size_t size = TEXT_SIZE + EDDYI_TIMELINE_EVENTS_MAX;
	int r;

	eddyi_timeline_json_begin(tapes.began_ns);
	timeline.records = 0;
	eddyi_iowq_reset();
	timeline.is_told = false;
	atomic_store(&timeline.dropped, 0);
	timeline.begin = malloc(size);
	if (!timeline.begin)
		return -ENOMEM;
	timeline.text = (struct eddyi_text){ .at = timeline.begin, .end = timeline.begin + size };
	r = open_file(settings, tapes.began_ns);
	return r < 0 ? r : eddyi_tapes_begin(&tapes);
}

static int start_thread(void)
{
	return eddyi_thread_start(&timeline.thread, writer_main);
}

int eddyi_timeline_writer_start(const struct eddyi_timeline_settings *settings, unsigned generation)
{
	int r = init(settings, generation);

	if (r == 0)
		r = eddyi_tapes_start(start_thread);
	if (r < 0)
		deinit();
	return r;
}

void eddyi_timeline_writer_stop(void)
{
	eddyi_tapes_stop();
	pthread_join(timeline.thread, NULL);
	deinit();
}

void eddyi_timeline_writer_in_child(void)
{
	eddyi_tapes_in_child();
	free(timeline.begin);
	timeline.begin = NULL;
	eddyi_timeline_file_close(&timeline.file);
}
