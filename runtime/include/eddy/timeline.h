/* eddy/timeline.h: what loops and tasks did when, as a file that Perfetto and chrome://tracing show.
 *
 *     EDDY_TRACE=out.json ./my-program
 *
 * needs no line of code; for a part of a program there is
 *
 *     eddy_trace_start(&(struct eddy_trace_options){ .path = "out.json" });
 *     …
 *     eddy_trace_stop();
 *
 * Each loop has a buffer of its own, and a thread writes what is in them to the file, which is whole JSON after
 * every write. What finds no room is dropped and counted. docs/timeline.md says what is to be seen.
 */
#ifndef EDDY_TIMELINE_H
#define EDDY_TIMELINE_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddy_field;

/* Time is recorded, or not, in slices of this length. */
#define EDDY_TRACE_SLICE_NS (10 * EDDY_MS)

/* Every field: 0 or NULL means its default. */
struct eddy_trace_options {
	/* Of the file, which is made where it is missing, and emptied. "%p" becomes the number of the process.
	 * Default: "trace-%p.json". */
	const char *path;
	unsigned sample; /* record one slice of so many; default 1: all; 1,000,000 at most */
	/* Bytes of each loop that wait to be written, rounded down to a power of two. Default: 1 MiB; 64 KiB to 1 GiB. */
	size_t buffer;
	/* Bytes of the file; what comes later is dropped. Default: 256 MiB; 64 KiB at least. */
	uint64_t file_max;
};

/* Record what all loops of the process do from here on, those that begin later included. The environment
 * variables EDDY_TRACE (the path), EDDY_TRACE_SAMPLE and EDDY_TRACE_MAX (bytes) do the same for the process's
 * first loop, and what is wrong with them is told in an ERROR record of target "eddy::timeline": the program runs
 * without a timeline then. Blocks for as long as the file takes to be opened. Any thread, but not inside a
 * subscriber that is given a record of that target.
 * Return: 0; -EBUSY when a timeline is being recorded, or another process writes that file; -EINVAL for an option
 * that is out of range; -ESPIPE for what is no file; -ENOMEM, -EAGAIN without a thread; those of open(2) and
 * write(2). */
EDDY_API int eddy_trace_start(const struct eddy_trace_options *options);

/* Stop, and write what is left: blocks until that is done. What other loops are in the middle of, or do from here on,
 * is no part of it. Does nothing where none is recorded. Any thread, but not inside a subscriber that is given a
 * record of target "eddy::timeline". */
EDDY_API void eddy_trace_stop(void);

/* How many records were lost since the start: for want of room, or because they could not be written. */
EDDY_API uint64_t eddy_trace_dropped(void);

/* Put a span onto the timeline: something that has a name, began and ended (times of eddy_now()), and may
 * overlap with others, as a request does. `fields` are its details: EDDY_FIELDS() or NULL. All of it is copied, up to
 * 384 bytes. Does nothing where nothing is recorded. Any thread. */
EDDY_API void eddy_trace_span(struct eddy_str name, uint64_t begin_ns, uint64_t end_ns,
			      const struct eddy_field *fields);

/* Private: what becomes of what this thread's loop does. Initial-exec: one instruction. */
enum eddyi_trace_state { EDDYI_TRACE_OFF, EDDYI_TRACE_BETWEEN_SLICES, EDDYI_TRACE_ON };
extern EDDY_API __thread enum eddyi_trace_state eddyi_trace_state
	__attribute__((tls_model("initial-exec")));

/* Whether this moment is recorded: for what is costly to prepare. Any thread. */
EDDY_API bool eddy_trace_is_on(void);

EDDY_END_DECLS

#endif
