/* 05_cleanup: save a file completely or not at all, however the task ends.
 *
 *     $ 05_cleanup
 *     haiku.txt: saved
 *     novel.txt: Operation canceled
 *     $ ls
 *     haiku.txt
 *
 * A deadline cancels the novel. Ctrl-C does the same, and leaves no partial file either.
 */
#include <eddy/runtime.h>
#include <stdio.h>
#include <string.h>

struct book {
	const char *part, *path;
	int lines;
};

static int write_book(int fd, int lines)
{
	ssize_t r = 0;

	while (r >= 0 && lines-- > 0) {
		r = eddy_write(fd, "words\n", 6, EDDY_OFFSET_NONE);
		if (r >= 0)
			r = eddy_sleep(EDDY_MS); /* stands for slow work */
	}
	return (int)r;
}

static int save(void *arg)
{
	const struct book *book = arg;
	struct eddy_scope_options clean_up = { .shielded = true, .timeout_ns = EDDY_SECOND };
	struct eddy_scope shield;
	int fd, r;

	fd = eddy_openat(AT_FDCWD, book->part, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return fd;
	r = write_book(fd, book->lines);
	eddy_close(fd); /* never cancelled */
	if (r >= 0)
		r = eddy_renameat(AT_FDCWD, book->part, AT_FDCWD, book->path, 0);
	if (r < 0) {
		/* In a cancelled scope every call fails. This scope is shielded, for a second. */
		eddy_scope_begin(&shield, &clean_up);
		eddy_unlinkat(AT_FDCWD, book->part, 0);
		eddy_scope_end(&shield);
	}
	printf("%s: %s\n", book->path, r < 0 ? strerror(-r) : "saved");
	return r;
}

static int run(void *arg)
{
	struct book haiku = { "haiku.part", "haiku.txt", 3 };
	struct book novel = { "novel.part", "novel.txt", 1000000 };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 300 * EDDY_MS });
	eddy_scope_spawn(&scope, "haiku", save, &haiku);
	eddy_scope_spawn(&scope, "novel", save, &novel);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return 0;
}

int main(void)
{
	return eddy_main(run, NULL);
}
