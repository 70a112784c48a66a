/* eddy/timeline.h: record what loops and tasks do, as a trace for Perfetto and chrome://tracing.
 *
 *     EDDY_TRACE=out.json ./my-program
 *
 * records a whole program without any code. To record a part of a program:
 *
 *     eddy_trace_start(&(struct eddy_trace_options){ .path = "out.json" });
 *     …
 *     eddy_trace_stop();
 *
 * Each loop has its own buffer, and a thread writes the buffers to the file, which is complete JSON
 * after every write. Records are dropped and counted while a buffer is full. See docs/timeline.md.
 */
#ifndef EDDY_TIMELINE_H
#define EDDY_TIMELINE_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddy_field;

/* Time is recorded, or skipped, in slices of this length: see .sample of the options. */
#define EDDY_TRACE_SLICE_NS (10 * EDDY_MS)

/* A zero field takes its default. */
struct eddy_trace_options {
	/* Path of the file, which is created or truncated. "%p" becomes the process ID. Default:
	 * "trace-%p.json". */
	const char *path;
	/* Record one slice of so many; default 1: all; at most 1,000,000. */
	unsigned sample;
	/* Size of each loop's buffer, rounded down to a power of two; 64 KiB to 1 GiB;
	 * default 1 MiB. */
	size_t buffer;
	/* Size limit of the file, beyond which records are dropped; at least 64 KiB;
	 * default 256 MiB. */
	uint64_t file_max;
};

/* Start recording all loops of the process, later ones included. Any thread may call it, but not
 * inside a log subscriber for a record of target "eddy::timeline". Blocks while the file is opened.
 * The environment variables EDDY_TRACE (the path), EDDY_TRACE_SAMPLE and EDDY_TRACE_MAX (bytes) do
 * the same for the process's first loop; if they are invalid, an ERROR record of that target says
 * so, and the program runs without a timeline.
 * Return: 0; -EBUSY if a timeline is being recorded, or another process writes the file; -EINVAL if
 * an option is out of range; -ESPIPE if the path is no regular file; -ENOMEM; -EAGAIN if no thread
 * can be started; those of open(2) and write(2). */
EDDY_API int eddy_trace_start(const struct eddy_trace_options *options);

/* Stop recording, and write the remaining records. Blocks until that is done. Any thread may call
 * it, but not inside a log subscriber for a record of target "eddy::timeline". What other loops are
 * doing, or do from then on, is not recorded. Does nothing if nothing is recorded. */
EDDY_API void eddy_trace_stop(void);

/* Count the records lost since the start, for want of room or because a write failed. */
EDDY_API uint64_t eddy_trace_dropped(void);

/* Add a span to the timeline: a name with a begin and an end (times of eddy_now()). Any thread may
 * call it. Spans may overlap, as requests do. `fields` are its details: EDDY_FIELDS() or NULL. All
 * of it is copied, up to 384 bytes. Does nothing if nothing is recorded. */
EDDY_API void eddy_trace_span(struct eddy_str name, uint64_t begin_ns, uint64_t end_ns,
			      const struct eddy_field *fields);

/* Private. Whether this thread's loop is recorded. Initial-exec: one instruction. */
enum eddyi_trace_state { EDDYI_TRACE_OFF, EDDYI_TRACE_BETWEEN_SLICES, EDDYI_TRACE_ON };
extern EDDY_API __thread enum eddyi_trace_state eddyi_trace_state
	__attribute__((tls_model("initial-exec")));

/* Check whether recording is on, before preparing costly details. Any thread may call it. */
EDDY_API bool eddy_trace_is_on(void);

EDDY_END_DECLS

#endif
