/* open_files.h: regular files to send, the responses that send them, and the cache of open files.
 *
 * Invariants:
 * 1. An open file is closed with its last reference: the loop's table has one while it contains the
 *    file, and so has each response that sends it.
 * 2. The key of a file in the table is the number of its folder, which is never reused, its path,
 *    and its coding. Its timer is armed while it is in the table.
 * 3. A file is used only if its state is that at its opening: a change of its bytes, names or
 *    permissions changes its ctime or its link count. Files found through symbolic links are not
 *    kept, nor files that changed shortly before their opening: another change might not show, or
 *    the name might already mean another file.
 * 4. Its fields, bytes and digests belong to that state. */
#ifndef EDDYI_OPEN_FILES_H
#define EDDYI_OPEN_FILES_H

#include "exchange/res.h"
#include "message/cond.h"
#include "message/digest.h"

#include <eddy/internal/gather.h>
#include <eddy/accept.h>
#include <eddy/list.h>
#include <eddy/open_files.h>
#include <eddy/timer.h>

/* A folder of files to send. */
struct eddyi_folder {
	struct eddyi_folder *next;       /* of the app's list of eddy_app_keep_files_open() */
	struct eddyi_folder *next_known; /* of the list of all the app's folders */
	const struct eddy_app *app;      /* NULL: its files are not kept */
	int dir;
	unsigned number;
};

struct eddyi_open_file {
	int fd;
	unsigned refs;
	struct eddy_timer timer;      /* until the file expires */
	struct eddy_node recent;      /* in the table; the last is the most recently used */
	struct eddyi_open_file *next; /* in the same bucket */
	uint64_t hash;
	unsigned folder;
	enum eddy_coding coding; /* of its bytes when sent */
	struct stat st;
	struct eddyi_validator validator;
	struct eddyi_res_fields fields; /* .headers is NULL before the first response */
	struct eddyi_digests digests;   /* those that were asked for */
	struct eddy_warmth warmth;
	struct eddyi_window window;
	char *bytes; /* all of a small file; NULL before it is first sent as it is */
	size_t len;
	char path[];
};

struct eddyi_found {
	struct eddyi_outgoing file;
	struct stat st;
};

/* Create a folder whose files are kept open. The app owns it. */
struct eddyi_folder *eddyi_folder_new(struct eddy_app *app, int dir);

/* Get the folder of `dir`. Its files are kept open if the app has asked for it. */
struct eddyi_folder eddyi_folder_of(const struct eddy_app *app, int dir);

/* Open the regular file at `path`, which ends with a NUL, to be sent to `party` as `coding`.
 * Without descriptors the loop closes the files that it keeps. Suspends, unless the file is kept.
 * Return: 0; -EISDIR; -ENOENT also for other kinds of files and paths outside; -ENOTDIR, -EACCES,
 * -EMFILE, -errno. */
int eddyi_folder_find(const struct eddyi_folder *folder, struct eddyi_party *party,
		      struct eddy_str path, enum eddy_coding coding, struct eddyi_found *ret_found);

/* Get the file of the cache that is to be sent. Return: NULL if it is none of the cache. */
struct eddyi_open_file *eddyi_open_file_of(const struct eddyi_outgoing *file);

/* Release all files that this thread's loop keeps. Never suspends.
 * Return: whether there were any. */
bool eddyi_open_files_drop(void);

/* Release them if `error` says that descriptors have run out. Never suspends.
 * Return: whether to try again. */
bool eddyi_open_files_make_room(int error);

/* Like eddy_res_file(), for a file of eddyi_folder_find(). Takes ownership of the file. The
 * fields of a kept file are made once, so its `name` and `options` must always be the same. */
int eddyi_res_found(struct eddy_res *res, struct eddy_str name, const struct eddyi_found *found,
		    const struct eddy_file_options *options);

#endif
