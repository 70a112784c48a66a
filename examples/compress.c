/* eddy-compress: make precompressed siblings of static files, which eddy_app_map_files() serves.
 *
 *     $ eddy-compress public
 *     eddy-compress: 3 made, 0 current, 0 not worth it, 0 failed; 78000 bytes became 197
 *     $ ls public
 *     page.html  page.html.br  page.html.gz  page.html.zst
 *     $ eddy-compress public
 *     eddy-compress: 0 made, 3 current, 0 not worth it, 0 failed; 0 bytes became 0
 *
 * A sibling gets its name when it is complete, and the time of its file: one with another time is
 * made again. One that saves less than a twentieth is not made, or removed. Uses all processors. */
#include "compress.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

static bool has_suffix(const char *name, size_t len)
{
	for (size_t i = 0; i < sibling_count; i++) {
		size_t suffix_len = strlen(siblings[i].suffix);

		if (len > suffix_len && strcmp(name + len - suffix_len, siblings[i].suffix) == 0)
			return true;
	}
	return false;
}

static int add(struct work *work, const char *path)
{
	/* The array is full whenever the count is a power of two. */
	if ((work->count & (work->count - 1)) == 0) {
		size_t size = work->count ? 2 * work->count : 1;
		char **paths = realloc(work->paths, size * sizeof(*paths));

		if (!paths)
			return -ENOMEM;
		work->paths = paths;
	}
	work->paths[work->count] = strdup(path);
	return work->paths[work->count++] ? 0 : -ENOMEM;
}

/* Names with a leading dot are not served, and so skipped; links are not followed. */
static int visit(struct work *work, FTS *tree, FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_D:
		if (entry->fts_level > 0 && entry->fts_name[0] == '.')
			fts_set(tree, entry, FTS_SKIP);
		return 0;
	case FTS_F:
		if (entry->fts_name[0] == '.' || has_suffix(entry->fts_name, entry->fts_namelen))
			return 0;
		return add(work, entry->fts_path);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		fprintf(stderr, "eddy-compress: %s: %s\n", entry->fts_path,
			strerror(entry->fts_errno));
		work->outcomes[FAILED]++;
		return 0;
	default:
		return 0;
	}
}

static int find_files(struct work *work, char **folders)
{
	FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int r = tree ? 0 : -errno;

	while (r == 0 && (entry = fts_read(tree)))
		r = visit(work, tree, entry);
	if (tree)
		fts_close(tree);
	return r;
}

/* On the first loop, and on a terminal only. */
static void show_progress(const struct work *work)
{
	static uint64_t shown_ns;
	uint64_t now = eddy_now();

	if (eddy_loops_index() || !isatty(STDERR_FILENO) || now - shown_ns < 100 * EDDY_MS)
		return;
	shown_ns = now;
	fprintf(stderr, "\r%zu of %zu files", work->done, work->count);
}

/* Each loop takes the next file until there is none. */
static int work_on_loop(void *arg)
{
	struct work *work = arg;
	size_t at;
	int r = 0;

	while (r == 0 && (at = work->next++) < work->count) {
		r = compress_file(work, work->paths[at]);
		work->done++;
		show_progress(work);
	}
	return r;
}

static int run(void *arg)
{
	return eddy_loops_run(NULL, work_on_loop, arg);
}

int main(int argc, char **argv)
{
	struct work work = { 0 };
	int at = 1, r;

	if (argc > 1 && strcmp(argv[1], "--force") == 0) {
		work.force = true;
		at++;
	}
	if (at >= argc || argv[at][0] == '-') {
		fputs("usage: eddy-compress [--force] FOLDER…\n", stderr);
		return 2;
	}
	r = find_files(&work, argv + at);
	if (r < 0)
		fprintf(stderr, "eddy-compress: %s\n", strerror(-r));
	r = r < 0 ? 1 : eddy_main(run, &work);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	printf("eddy-compress: %llu made, %llu current, %llu not worth it, %llu failed; "
	       "%llu bytes became %llu\n",
	       work.outcomes[MADE], work.outcomes[CURRENT], work.outcomes[USELESS],
	       work.outcomes[FAILED], work.bytes, work.made_bytes);
	for (size_t i = 0; i < work.count; i++)
		free(work.paths[i]);
	free(work.paths);
	return r ? r : work.outcomes[FAILED] || work.done < work.count;
}
