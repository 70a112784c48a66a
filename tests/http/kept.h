/* kept.h: a folder whose files stay open, for the tests of that. */
#ifndef EDDY_TESTS_KEPT_H
#define EDDY_TESTS_KEPT_H

#include "../descriptors.h"
#include "../folder.h"
#include "app/app.h"
#include "files/open_files.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder with some files, and what becomes of them: `go` runs on a loop, and returns 0 or a line of its own. */
struct rig {
	struct eddy_app *app;
	struct eddyi_folder *folder;
	int dir;
	int (*go)(struct rig *rig);
};

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			return __LINE__;                                                           \
	} while (0)

static inline void write_file(struct rig *rig, const char *name, const char *text)
{
	int fd = openat(rig->dir, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

	cr_assert(eq(sz, (size_t)write(fd, text, strlen(text)), strlen(text)));
	close(fd);
}

static inline int find_as(struct rig *rig, const char *name, enum eddy_coding coding,
			  struct eddyi_found *ret_found)
{
	return eddyi_folder_find(rig->folder, NULL, eddy_str_from(name), coding, ret_found);
}

/* Find a file and give it back. Return: the one that is kept, NULL when none is. */
static inline const struct eddyi_open_file *kept(struct rig *rig, const char *name)
{
	struct eddyi_found found = { .file = { .fd = -1 } };
	const struct eddyi_open_file *file;

	if (find_as(rig, name, EDDY_CODING_IDENTITY, &found) < 0)
		return NULL;
	file = eddyi_open_file_of(&found.file);
	eddyi_outgoing_close(&found.file);
	return file;
}

/* What has only just been changed is not kept yet. Return: the one that is kept, some time. */
static inline const struct eddyi_open_file *soon_kept(struct rig *rig, const char *name)
{
	const struct eddyi_open_file *file;

	while (!(file = kept(rig, name)))
		eddy_yield();
	return file;
}

static inline int root(void *arg)
{
	struct rig *rig = arg;

	if (!rig->app->options.no_open_files) {
		soon_kept(rig, "d");
		eddyi_open_files_drop();
	}
	return rig->go(rig);
}

static inline void run_with(int (*go)(struct rig *rig), const struct eddy_server_options *options)
{
	struct rig rig = { .app = eddy_app_new(), .go = go };
	int before, r;

	make_folder();
	rig.dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	eddy_app_with_server(rig.app, options);
	rig.folder = eddyi_folder_new(rig.app, rig.dir);
	for (int i = 0; i < 4; i++)
		write_file(&rig, (char[]){ (char)('a' + i), 0 }, "text");
	before = open_descriptors();
	r = eddy_run(NULL, root, &rig);
	cr_expect_eq(r, 0, "it stopped in line %d", r);
	/* None outlives the loop. */
	cr_expect(eq(int, open_descriptors(), before));
	eddy_app_free(rig.app);
	close(rig.dir);
	remove_folder();
}

static inline void run(int (*go)(struct rig *rig))
{
	run_with(go, &(struct eddy_server_options){ .open_files_valid_ns = EDDY_NEVER });
}

#endif
