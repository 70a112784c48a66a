#include "client_partial.h"

#include <eddy/file.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/proc.h>
#include <eddy/internal/siphash.h>
#include <eddy/io.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <eddy/task.h>

#define CLEAN_UP_NS (10 * EDDY_SECOND)
#define LOCK_TRIES 50
#define LOCK_NS (10 * EDDY_MS)
/* Limit of the target's name within that of the hidden file. */
#define NAME_MAX_LEN 200

/* Of the file of the state. It is replaced by one write below the size of a page, which a kill does
 * not divide. */
struct record {
	char magic[8];
	uint64_t url;
	uint64_t inode; /* of the partial file */
	char boot[40];
	struct eddyi_client_partial_state state;
	uint64_t check; /* hash of all before it */
};

static const char magic[8] = "eddy-dl2";

static uint64_t hash(const void *bytes, size_t len)
{
	return eddyi_siphash(eddy_str(bytes, len), (const uint64_t[2]){ 1, 2 });
}

static void read_boot(char boot[40])
{
	memset(boot, 0, 40);
	eddyi_proc_read(boot, 40, "/proc/sys/kernel/random/boot_id");
}

/* ---- opening ---- */

/* Whether the name still leads to the open file, which another process may have published or
 * removed before it was locked here. */
static int is_current(const struct eddyi_client_partial *partial)
{
	struct stat st, named;

	if (eddyi_fstat_now(partial->fd, &st) < 0)
		return -errno;
	/* A link could make it write to another file. */
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
		return -EEXIST;
	if (eddyi_fstatat_now(partial->dir, partial->name, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return named.st_ino == st.st_ino && named.st_dev == st.st_dev;
}

static int lock(struct eddyi_client_partial *partial)
{
	/* Without locks on the file system it stays unlocked. The kernel closes the files of a ring
	 * a moment after its process was killed. */
	for (unsigned i = 0;
	     eddyi_flock_now(partial->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK; i++) {
		int r = i < LOCK_TRIES ? eddy_sleep(LOCK_NS) : -EBUSY;

		if (r < 0)
			return r;
	}
	return is_current(partial);
}

/* Return: 0, -errno. */
static int open_file(struct eddyi_client_partial *partial)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, .mode = 0666 };

	partial->fd = eddy_openat2(partial->dir, partial->name, &how);
	partial->is_new = partial->fd >= 0;
	if (partial->fd == -EEXIST)
		partial->fd = eddy_openat2(partial->dir, partial->name,
					   &(struct open_how){ .flags = O_RDWR | O_NOFOLLOW });
	/* It may have been published or removed in between. */
	if (partial->fd == -ENOENT)
		partial->fd = eddy_openat2(partial->dir, partial->name, &how);
	return partial->fd < 0 ? partial->fd : 0;
}

int eddyi_client_partial_open(struct eddyi_client_partial *partial, int dir, const char *name,
			      const char *url)
{
	int r = 0;

	*partial = (struct eddyi_client_partial){
		.dir = dir,
		.fd = -1,
		.state_fd = -1,
		.url = hash(url, strlen(url)),
	};
	snprintf(partial->name, sizeof(partial->name), ".%.*s.eddy-part", NAME_MAX_LEN, name);
	snprintf(partial->state_name, sizeof(partial->state_name), ".%.*s.eddy-state", NAME_MAX_LEN,
		 name);
	while (r == 0) {
		r = open_file(partial);
		if (r < 0)
			return r == -ELOOP ? -EEXIST : r;
		r = lock(partial);
		if (r > 0)
			return 0;
		eddyi_close_now(partial->fd);
		partial->fd = -1;
	}
	return r;
}

/* ---- pieces ---- */

uint64_t eddyi_client_partial_missing(const struct eddyi_client_partial_state *state)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < EDDYI_PIECES_MAX; i++)
		missing += state->pieces[i].end - state->pieces[i].at;
	return missing;
}

void eddyi_client_partial_set_total(struct eddyi_client_partial_state *state, uint64_t total)
{
	struct eddyi_piece *pieces = state->pieces;

	for (size_t i = 0; i < EDDYI_PIECES_MAX; i++) {
		pieces[i].end = pieces[i].end < total ? pieces[i].end : total;
		pieces[i].at = pieces[i].at < total ? pieces[i].at : total;
	}
	state->total = total;
}

struct eddyi_piece *eddyi_client_partial_take(struct eddyi_client_partial_state *state,
					      uint64_t most)
{
	struct eddyi_piece *piece = NULL, *unused = NULL, *at = state->pieces;

	for (; at < state->pieces + EDDYI_PIECES_MAX; at++) {
		if (at->is_taken)
			continue;
		if (at->at == at->end)
			unused = at;
		else if (!piece || at->at < piece->at)
			piece = at;
	}
	if (!piece)
		return NULL;
	if (unused && piece->end - piece->at > most) {
		*unused = (struct eddyi_piece){ piece->at + most, piece->end, false };
		piece->end = unused->at;
	}
	piece->is_taken = true;
	return piece;
}

/* ---- the state ---- */

static bool read_record(const struct eddyi_client_partial *partial, struct record *record)
{
	struct open_how how = { .flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK };
	int fd = eddy_openat2(partial->dir, partial->state_name, &how);
	ssize_t r;

	if (fd < 0)
		return false;
	r = eddy_read(fd, record, sizeof(*record), 0);
	eddy_close(fd);
	return r == (ssize_t)sizeof(*record) && memcmp(record->magic, magic, sizeof(magic)) == 0 &&
	       record->check == hash(record, offsetof(struct record, check));
}

/* Check the state against the file, whose length tells what a sequential one has.
 * Return: false if they do not match. */
static bool fits(struct record *record, uint64_t size)
{
	struct eddyi_client_partial_state *state = &record->state;
	char boot[40];
	bool is_same_boot;
	uint64_t have;

	for (size_t i = 0; i < EDDYI_PIECES_MAX; i++)
		if (state->pieces[i].at > state->pieces[i].end ||
		    state->pieces[i].end > state->total)
			return false;
	read_boot(boot);
	is_same_boot = boot[0] && memcmp(boot, record->boot, sizeof(boot)) == 0;
	/* Bytes in the page cache outlive the process, but not the machine, and the length of a
	 * file with holes does not tell which are there. */
	if (!state->is_sequential)
		return is_same_boot;
	have = state->total - eddyi_client_partial_missing(state);
	if (is_same_boot || have > size)
		have = size;
	memset(state->pieces, 0, sizeof(state->pieces));
	state->pieces[0] = (struct eddyi_piece){ have, state->total, false };
	return size <= state->total;
}

bool eddyi_client_partial_load(struct eddyi_client_partial *partial,
			       struct eddyi_client_partial_state *ret_state)
{
	struct record record;
	struct stat st;

	/* A state that was left alone names an inode that is in use again. */
	if (partial->is_new || !read_record(partial, &record) ||
	    eddyi_fstat_now(partial->fd, &st) < 0 || record.url != partial->url ||
	    record.inode != st.st_ino || !record.state.validator[0] ||
	    !fits(&record, (uint64_t)st.st_size))
		return false;
	*ret_state = record.state;
	return true;
}

static void close_state(struct eddyi_client_partial *partial)
{
	if (partial->state_fd >= 0)
		eddyi_close_now(partial->state_fd);
	partial->state_fd = -1;
}

static int forget_state(struct eddyi_client_partial *partial)
{
	int r = eddy_unlinkat(partial->dir, partial->state_name, 0);

	close_state(partial);
	return r == -ENOENT ? 0 : r;
}

int eddyi_client_partial_clear(struct eddyi_client_partial *partial)
{
	int r = forget_state(partial);

	return r < 0 ? r : eddy_ftruncate(partial->fd, 0);
}

int eddyi_client_partial_save(struct eddyi_client_partial *partial,
			      const struct eddyi_client_partial_state *state)
{
	struct open_how how = { .flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
				.mode = 0600 };
	struct record record;
	struct stat st;

	if (eddyi_fstat_now(partial->fd, &st) < 0)
		return -errno;
	if (partial->state_fd < 0)
		partial->state_fd = eddy_openat2(partial->dir, partial->state_name, &how);
	if (partial->state_fd < 0)
		return partial->state_fd;
	memset(&record, 0, sizeof(record));
	memcpy(record.magic, magic, sizeof(magic));
	record.url = partial->url;
	record.inode = st.st_ino;
	read_boot(record.boot);
	/* Without padding, and what belongs to the process. */
	record.state.total = state->total;
	for (size_t i = 0; i < EDDYI_PIECES_MAX; i++) {
		record.state.pieces[i].at = state->pieces[i].at;
		record.state.pieces[i].end = state->pieces[i].end;
	}
	record.state.is_sequential = state->is_sequential;
	memcpy(record.state.validator, state->validator, sizeof(state->validator));
	record.check = hash(&record, offsetof(struct record, check));
	return eddy_write_all(partial->state_fd, &record, sizeof(record), 0);
}

/* ---- the end ---- */

/* For file systems that can't rename without replacing, such as NFS: a link never replaces. */
static int link_as(struct eddyi_client_partial *partial, const char *name)
{
	int r = eddy_linkat(partial->dir, partial->name, partial->dir, name, 0);

	return r < 0 ? r : eddy_unlinkat(partial->dir, partial->name, 0);
}

static int rename_as(struct eddyi_client_partial *partial, const char *name, bool no_replace,
		     bool *ret_replaced)
{
	int r = eddy_renameat(partial->dir, partial->name, partial->dir, name, RENAME_NOREPLACE);

	if (r == -EINVAL)
		r = link_as(partial, name);
	*ret_replaced = r == -EEXIST;
	if (r == -EEXIST && !no_replace)
		r = eddy_renameat(partial->dir, partial->name, partial->dir, name, 0);
	return r;
}

int eddyi_client_partial_publish(struct eddyi_client_partial *partial, const char *name,
				 bool no_replace, bool *ret_replaced)
{
	struct eddy_scope shield;
	int r;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	r = rename_as(partial, name, no_replace, ret_replaced);
	/* The state names the file by its inode: alone it says nothing of another. */
	if (r == 0)
		forget_state(partial);
	eddy_scope_end(&shield);
	return r;
}

static int close_file(void *arg)
{
	return eddyi_close_now(*(int *)arg);
}

void eddyi_client_partial_close(struct eddyi_client_partial *partial, bool keep)
{
	struct eddy_scope shield;

	if (partial->fd < 0)
		return;
	eddy_scope_begin(&shield, &(struct eddy_scope_options){
					  .shielded = true,
					  .timeout_ns = CLEAN_UP_NS,
				  });
	if (!keep) {
		forget_state(partial);
		eddy_unlinkat(partial->dir, partial->name, 0);
	}
	eddy_scope_end(&shield);
	close_state(partial);
	/* Freeing the pages of a large file takes a while. */
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	eddy_offload(close_file, &partial->fd);
	eddy_scope_end(&shield);
	partial->fd = -1;
}
