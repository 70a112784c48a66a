/* open_files.h: regular files on their way out, and those that stay open for the next request.
 *
 * Invariants:
 * 1. An open file is closed with its last reference: the table of its loop has one as long as it is in there, and
 *    who sends it has one each.
 * 2. A file is in the table by the number of its folder, which no other folder ever had, its path, and what its bytes
 *    are sent as; its timer is armed for as long.
 * 3. A file is given out only while its state is the one that it was opened with: a change of its bytes, names or
 *    rights changes its ctime or its links. No link was followed on the way to it.
 *    A file that changed since a moment before it was opened is not kept: another change might not show, or it may no
 *    longer be what the name says.
 * 4. Its fields describe that state, and its bytes are those of that state.
 */
#ifndef EDDYI_OPEN_FILES_H
#define EDDYI_OPEN_FILES_H

#include "holding.h"
#include "message/validator.h"

#include <eddy/internal/transfer.h>
#include <eddy/accept.h>
#include <eddy/list.h>
#include <eddy/open_files.h>
#include <eddy/timer.h>
#include <eddy/transfer.h>

/* A folder that files are sent from. */
struct eddyi_folder {
	struct eddyi_folder *next; /* of the app's whose files stay open for eddy_res_file_at() */
	struct eddyi_folder *next_known; /* of all the app's */
	const struct eddy_app *app;      /* NULL: nothing of it is kept */
	int dir;
	unsigned number;
};

/* Fields for responses. */
struct eddyi_res_fields {
	struct eddyi_header *headers; /* followed by the text */
	unsigned count;
	size_t size; /* of the text */
};

struct eddyi_open_file {
	int fd;
	unsigned refs;
	struct eddy_timer timer;      /* until the name is looked up again */
	struct eddy_node recent;      /* in the table: who was asked for last is the last */
	struct eddyi_open_file *next; /* of those in the same bucket */
	uint64_t hash;
	unsigned folder;
	enum eddy_coding coding; /* what its bytes are sent as */
	struct stat st;
	struct eddyi_validator validator;
	struct eddyi_res_fields fields; /* .headers is NULL until it has been sent once */
	struct eddy_warmth warmth;
	char *bytes; /* all of it, of a small one; NULL until it has been sent once */
	size_t len;
	char path[];
};

/* A file that is about to be sent. */
struct eddyi_outgoing {
	int fd;                       /* -1: none */
	struct eddyi_open_file *kept; /* whose `fd` is; NULL: it is the holder's own */
	uint64_t device;              /* its st_dev; 0: nobody has looked */
	bool counted;                 /* by descriptors.h: those of handlers are not */
};

/* One that was found, and what it is now. */
struct eddyi_found {
	struct eddyi_outgoing file;
	struct stat st;
};

/* A folder whose files stay open; it is the app's. */
struct eddyi_folder *eddyi_folder_new(struct eddy_app *app, int dir);

/* That of `dir`; its files stay open if the app was told so. */
struct eddyi_folder eddyi_folder_of(const struct eddy_app *app, int dir);

/* Open the regular file that `path`, which ends with a NUL, names in the folder, to be sent to `party` as `coding`. Where
 * descriptors have run out, the loop closes files that it keeps open. Suspends, unless the file is at hand.
 * Return: 0; -EISDIR for a folder, -ENOENT for all else that can't be what was meant, -ENOTDIR, -EACCES, -EMFILE, -errno. */
int eddyi_folder_find(const struct eddyi_folder *folder, struct eddyi_party *party,
		      struct eddy_str path, enum eddy_coding coding, struct eddyi_found *ret_found);

/* Read `len` bytes of the file from `offset` on. Those of a small file that is kept stay in memory. Suspends, unless they are
 * at hand. Return: as eddyi_transfer_read(). */
int eddyi_outgoing_read(const struct eddyi_outgoing *file, void *buf, size_t len, uint64_t offset);

/* Its loop's record of how much of it is in the page cache; NULL where it is not kept. */
static inline struct eddy_warmth *eddyi_outgoing_warmth(const struct eddyi_outgoing *file)
{
	return file->kept ? &file->kept->warmth : NULL;
}

/* Close it, or give it back. Never suspends. */
void eddyi_outgoing_close(struct eddyi_outgoing *file);

/* Let go of all files that this thread's loop keeps. Never suspends. Return: whether there were any. */
bool eddyi_open_files_drop(void);

/* Let go of them if `error` says that descriptors have run out. Never suspends.
 * Return: whether what came of it may be asked for again, since there were some. */
bool eddyi_open_files_make_room(int error);

#endif
