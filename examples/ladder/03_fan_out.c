/* 03_fan_out: one task for each file counts its lines; the counts are added up.
 *
 *     $ 03_fan_out one.txt two.txt
 *           1 one.txt
 *           2 two.txt
 *           3 total
 *
 * The first file that can't be read cancels the others: a total without it would be wrong.
 */
#include <eddy/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 64

struct file {
	const char *path;
	unsigned long lines;
};

static int count_lines(void *arg)
{
	struct file *file = arg;
	char buf[16384];
	ssize_t n;
	int fd;

	fd = eddy_openat(AT_FDCWD, file->path, O_RDONLY, 0);
	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", file->path, strerror(-fd));
		return fd;
	}
	while ((n = eddy_read(fd, buf, sizeof(buf), EDDY_OFFSET_NONE)) > 0)
		for (ssize_t i = 0; i < n; i++)
			file->lines += buf[i] == '\n';
	if (n < 0 && n != -ECANCELED)
		fprintf(stderr, "%s: %s\n", file->path, strerror((int)-n));
	eddy_close(fd);
	return (int)n;
}

static int run(void *arg)
{
	char **paths = arg;
	struct file files[FILES_MAX] = { 0 };
	unsigned long total = 0;
	struct eddy_scope scope;
	size_t count = 0;
	int spawned = 0, r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .fail_fast = true });
	for (; paths[count] && spawned == 0; count++) {
		files[count].path = paths[count];
		spawned = eddy_scope_spawn(&scope, "count", count_lines, &files[count]);
	}
	if (spawned == 0)
		eddy_scope_join(&scope);
	r = eddy_scope_end(&scope);
	if (spawned < 0)
		fprintf(stderr, "no task for %s: %s\n", files[count - 1].path, strerror(-spawned));
	if (spawned < 0 || r < 0)
		return 1;
	for (size_t i = 0; i < count; i++) {
		printf("%7lu %s\n", files[i].lines, files[i].path);
		total += files[i].lines;
	}
	printf("%7lu total\n", total);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 + FILES_MAX) {
		fprintf(stderr, "03_fan_out: at most %d files\n", FILES_MAX);
		return 2;
	}
	return eddy_main(run, argv + 1);
}
