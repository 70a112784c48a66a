/* 07_cp: copy a file by splice(2), through a pipe and not through the program.
 *
 *     $ 07_cp one.txt copy.txt
 *     $ cat copy.txt
 *     one line
 *     $ 07_cp one.txt /dev/stdout | cat
 *     one line
 */
#include <eddy/runtime.h>
#include <stdio.h>
#include <string.h>

/* The job of one task: move everything from `from` to `to`, and close both. */
struct move {
	int from;
	int to;
};

static int move_all(void *arg)
{
	struct move *move = arg;
	ssize_t n;

	do
		n = eddy_splice(move->from, EDDY_OFFSET_NONE, move->to, EDDY_OFFSET_NONE, EDDY_MIB,
				0);
	while (n > 0);
	eddy_close(move->from);
	eddy_close(move->to);
	return (int)n;
}

static int open_file(const char *path, int flags)
{
	int fd = eddy_openat(AT_FDCWD, path, flags, 0644);

	if (fd < 0)
		fprintf(stderr, "%s: %s\n", path, strerror(-fd));
	return fd;
}

static int copy(void *arg)
{
	char **paths = arg;
	struct eddy_scope scope;
	int from, to, ends[2];

	from = open_file(paths[0], O_RDONLY);
	if (from < 0)
		return 1;
	to = open_file(paths[1], O_WRONLY | O_CREAT | O_TRUNC);
	if (to < 0 || eddy_pipe(ends, 0) < 0)
		return 1;
	/* A pipe of the kernel connects the two tasks: one fills it, the other empties it. */
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "fill", move_all, &(struct move){ from, ends[1] });
	eddy_scope_spawn(&scope, "empty", move_all, &(struct move){ ends[0], to });
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return eddy_main(copy, argv + 1);
	fputs("usage: 07_cp FROM TO\n", stderr);
	return 2;
}
