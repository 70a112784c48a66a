/* eddy: runs eddy's programs as its commands.
 *
 *     $ eddy serve ~/shared     runs eddy-serve
 *     $ eddy help               lists the commands
 *
 * `eddy NAME …` runs the program eddy-NAME. The static `eddy` contains its programs. Others search
 * for them in their own folder and in libexec/eddy of its prefix, also after a move; or, if
 * EDDY_EXEC_PATH is set, only in the folders that it lists, separated by colons. Exit status: the
 * program's; 1 if it is not installed; 2 if the name is unknown.
 */
#include "programs.h"

#include <errno.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* EDDYI_VERSION is set by the build. */

static const struct known {
	const char *name;
	const char *what;
	const char *from; /* the part of eddy that installs it */
} known[] = {
	{ "serve", "serve a folder over HTTP, for download and upload",
	  "a full installation of eddy" },
	{ "get", "download a URL into a file, and continue after failures", "the layer http" },
	{ "put", "upload a file to a URL, and continue after failures", "the layer http" },
	{ "bench", "measure HTTP servers", "a full installation of eddy" },
	{ "replay", "replay a recording: list its events, stop at one", "the layer runtime" },
	{ "doctor", "check whether this machine can run eddy, and how to repair it",
	  "the layer runtime" },
};

#define KNOWN (sizeof(known) / sizeof(*known))

static const struct known *find_known(const char *name)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

/* Print programs that are not in `known`. */
static void print_others(FILE *out)
{
	struct eddy_str rest = eddy_str_from(eddyi_programs_folders());
	char folder[PATH_MAX], path[PATH_MAX];

	while (eddyi_programs_next(&rest, folder)) {
		DIR *dir = opendir(folder);
		struct dirent *entry;

		while (dir && (entry = readdir(dir))) {
			const char *name = entry->d_name + 5;

			if (strncmp(entry->d_name, "eddy-", 5) == 0 &&
			    strncmp(name, "doctor-", 7) != 0 && !find_known(name) &&
			    eddyi_programs_find(name, path))
				fprintf(out, "  %-9s%s\n", name, path);
		}
		if (dir)
			closedir(dir);
	}
}

static void usage(FILE *out)
{
	char path[PATH_MAX];

	fputs("usage: eddy COMMAND [ARGUMENT…]\n\n", out);
	for (size_t i = 0; i < KNOWN; i++) {
		bool there = eddyi_programs_linked(known[i].name) ||
			     eddyi_programs_find(known[i].name, path);

		fprintf(out, "  %-9s%s%s%s\n", known[i].name, known[i].what,
			there ? "" : " — not installed here, comes with ",
			there ? "" : known[i].from);
	}
	print_others(out);
	fputs("  help     this text; help COMMAND: the arguments of COMMAND\n"
	      "  version  the version of eddy\n",
	      out);
}

/* Run a linked program, which calls itself eddy-NAME in messages. Return: its exit status. */
static int run_linked(const struct eddyi_linked *linked, int argc, char **argv)
{
	static char name[64];

	snprintf(name, sizeof(name), "eddy-%s", linked->name);
	program_invocation_short_name = argv[0] = name;
	return linked->main(argc, argv);
}

/* Run the program of a command. Return: the exit status. */
static int run(const char *name, int argc, char **args)
{
	const struct eddyi_linked *linked = eddyi_programs_linked(name);
	const struct known *command = find_known(name);
	char path[PATH_MAX];

	if (linked)
		return run_linked(linked, argc, args);
	if (!strchr(name, '/') && eddyi_programs_find(name, path)) {
		/* Not "eddy serve": a server that restarts executes argv[0]. */
		args[0] = path;
		execv(path, args);
		fprintf(stderr, "eddy: %s can't be run: %s\n", path, strerror(errno));
		return 1;
	}
	if (command) {
		fprintf(stderr,
			"eddy: eddy-%s is not installed here, it comes with %s; looked for it in %s\n"
			"eddy: to install that, of Debian's packages: sudo apt-get install --reinstall "
			"eddy; in eddy's source: ./dev build && sudo meson install -C build\n",
			name, command->from, eddyi_programs_folders());
		return 1;
	}
	fprintf(stderr, "eddy: there is no command %s\n", name);
	usage(stderr);
	return 2;
}

/* EDDY_RECORD and EDDY_REPLAY are for the program that this executes. */
extern const bool eddyi_is_launcher;
__attribute__((weak)) const bool eddyi_is_launcher = true;

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "help";
	char *help[] = { NULL, (char[]){ "--help" }, NULL };

	if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
		puts("eddy " EDDYI_VERSION);
		return 0;
	}
	if (strcmp(name, "help") != 0 && strcmp(name, "--help") != 0 && strcmp(name, "-h") != 0)
		return run(name, argc - 1, argv + 1);
	if (argc > 2)
		return run(argv[2], 2, help);
	usage(stdout);
	return 0;
}
