/* progress.h: one line on stderr that says how far a run is. */
#ifndef EDDY_BENCH_PROGRESS_H
#define EDDY_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown;
	bool on_terminal;   /* the line is written over */
	unsigned done, all; /* samples */
	uint64_t began_ns;
	double seconds_each; /* as long as none is done */
};

/* Begin to count up to `all` samples. It is shown on a terminal, or where `always` is set. */
void progress_begin(struct progress *progress, bool always, unsigned all, double seconds_each);

/* Show what is done now. */
__attribute__((format(printf, 2, 3))) void progress_show(struct progress *progress,
							 const char *format, ...);

/* A sample is done. */
void progress_step(struct progress *progress);

/* Take the line away. */
void progress_end(struct progress *progress);

#endif
