/* eddy-replay: replays a recording with the program that made it.
 *
 *     $ EDDY_RECORD=run.rec ./server
 *     $ eddy-replay run.rec --until 'request 4711'
 *
 * Executes the recorded program with the variables that docs/recordings.md lists. Exit status: that
 * of the program; 85 if the recording can't be replayed; 86 if the replay diverges; 2 for a
 * mistake in the arguments.
 */
#include "record/recording.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"usage: eddy replay FILE [OPTION…]\n\n"
	"Run the recorded program again, with all that it learned from outside.\n\n"
	"  --until PLACE   stop before event N, after a time (1.5s, 20ms) or at 'request N',\n"
	"                  and list the tasks\n"
	"  --print         list the events on stdout; what the program prints goes to stderr\n"
	"  --bytes         with the text that is received, sent, read and written\n"
	"  --timeline OUT  make a timeline for ui.perfetto.dev\n"
	"  --pace          take the recorded time, not as little as possible\n"
	"  --gdb           in gdb; `help eddy` there lists commands\n"
	"  --program PATH  the program, if it is not where it was recorded\n"
	"  --lenient       with another build of the program\n"
	"  --help          this text\n";

/* This program is neither recorded nor replayed itself. */
extern const bool eddyi_is_launcher;
__attribute__((weak)) const bool eddyi_is_launcher = true;

enum { UNTIL, PRINT, BYTES, TIMELINE, PACE, LENIENT, GDB, PROGRAM, HELP, UNKNOWN = '?' };

/* Of the options before GDB. */
static const char *const variables[] = {
	"EDDY_REPLAY_UNTIL", "EDDY_REPLAY_PRINT", "EDDY_REPLAY_BYTES",
	"EDDY_REPLAY_TRACE", "EDDY_REPLAY_PACE",  "EDDY_REPLAY_LENIENT",
};

static const struct option options[] = {
	{ "until", required_argument, NULL, UNTIL },
	{ "print", no_argument, NULL, PRINT },
	{ "bytes", no_argument, NULL, BYTES },
	{ "timeline", required_argument, NULL, TIMELINE },
	{ "pace", no_argument, NULL, PACE },
	{ "gdb", no_argument, NULL, GDB },
	{ "lenient", no_argument, NULL, LENIENT },
	{ "program", required_argument, NULL, PROGRAM },
	{ "help", no_argument, NULL, HELP },
	{ 0 },
};

static int run(const char *path, const struct eddyi_recording *recording, bool in_gdb)
{
	char *const gdb[] = { "gdb", "-q", "--args", (char *)recording->program, NULL };

	if (setenv("EDDY_REPLAY", path, 1) < 0)
		return -errno;
	/* The program itself takes the recorded arguments and environment. */
	if (in_gdb)
		execvp("gdb", gdb);
	else
		execv(recording->program, recording->argv);
	return -errno;
}

int main(int argc, char **argv)
{
	struct eddyi_recording recording;
	const char *value, *program = NULL;
	bool in_gdb = false;
	char path[PATH_MAX];
	int option, r = 0;

	while (r == 0 && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case GDB:
			in_gdb = true;
			break;
		case PROGRAM:
			program = optarg;
			break;
		case HELP:
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		case UNKNOWN:
			fputs(usage, stderr);
			return 2;
		default:
			value = optarg ? optarg : option == PRINT ? "-" : "1";
			r = setenv(variables[option], value, 1) < 0 ? -errno : 0;
		}
	}
	if (r < 0) {
		fprintf(stderr, "eddy replay: %s\n", strerror(-r));
		return EDDYI_REPLAY_REFUSED;
	}
	if (optind + 1 != argc) {
		fputs(usage, stderr);
		return 2;
	}
	r = realpath(argv[optind], path) ? eddyi_recording_open(path, &recording) : -errno;
	if (r < 0) {
		fprintf(stderr, "eddy replay: %s can't be read: %s\n", argv[optind],
			r == -EBADMSG ? "it is no recording, or is damaged" : strerror(-r));
		return EDDYI_REPLAY_REFUSED;
	}
	if (program)
		recording.program = program;
	r = run(path, &recording, in_gdb);
	fprintf(stderr, "eddy replay: %s can't be executed: %s\n",
		in_gdb ? "gdb" : recording.program, strerror(-r));
	return EDDYI_REPLAY_REFUSED;
}
