#include "progress.h"

#include <eddy/loop.h>

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void progress_begin(struct progress *progress, bool always, unsigned all, double seconds_each)
{
	*progress = (struct progress){
		.on_terminal = isatty(STDERR_FILENO) == 1,
		.all = all,
		.began_ns = eddy_now(),
		.seconds_each = seconds_each,
	};
	progress->shown = always || progress->on_terminal;
}

static double seconds_left(const struct progress *progress)
{
	double each = progress->seconds_each;

	if (progress->done)
		each = (double)(eddy_now() - progress->began_ns) / 1e9 / progress->done;
	return each * (progress->all - progress->done);
}

void progress_show(struct progress *progress, const char *format, ...)
{
	va_list args;

	if (!progress->shown)
		return;
	fputs(progress->on_terminal ? "\r\033[K" : "", stderr);
	fprintf(stderr, "eddy-bench: %u/%u ", progress->done + 1, progress->all);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ", about %.0f s left%s", seconds_left(progress),
		progress->on_terminal ? "" : "\n");
	fflush(stderr);
}

void progress_step(struct progress *progress)
{
	progress->done++;
}

void progress_end(struct progress *progress)
{
	if (progress->shown && progress->on_terminal)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
