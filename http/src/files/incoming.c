#include "incoming.h"

#include "descriptors.h"
#include "exchange/exchange_state.h"
#include "open_files.h"

#include <eddy/internal/outside.h>
#include <eddy/file.h>
#include <eddy/internal/text.h>
#include <eddy/io.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <errno.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/statfs.h>
#include <unistd.h>

#define CLEAN_UP_NS (10 * EDDY_SECOND)
/* A file of this size in memory is freed in less than a millisecond. */
#define QUICK_TO_FREE (4 * EDDY_MIB)
/* Disk space is allocated in these steps ahead of received bytes, never for an announced length. */
#define RESERVE_FROM EDDY_MIB
#define RESERVE_STEP (16 * EDDY_MIB)
/* Write sizes of a body that passes through memory: each write takes a ring worker, unless the file
 * is in memory. */
#define COPY_MIN (16 * EDDY_KIB)
#define COPY_MAX (256 * EDDY_KIB)

/* One call gets random bytes for many names. After fork(2) a child repeats its parent's names,
 * which exist, and then makes others. */
static int make_hidden_name(char name[EDDYI_HIDDEN_SIZE])
{
	static _Thread_local uint64_t random[32];
	static _Thread_local unsigned left;

	if (!left) {
		if (eddyi_random(random, sizeof(random), GRND_NONBLOCK) < 0)
			return -EAGAIN;
		left = sizeof(random) / sizeof(*random);
	}
	*eddyi_hex_format(&random[--left], sizeof(*random), stpcpy(name, EDDYI_HIDDEN_PREFIX)) = 0;
	return 0;
}

/* Lock a file that is being created. Without locks on the file system it stays unlocked; then
 * cleaning up leaves all hidden files.
 * Return: false if a clean-up has locked it. */
static bool lock(int fd)
{
	return eddyi_flock_now(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Whether to change the folder on this thread: in memory a ring worker would cost more. */
static bool is_quick(const struct eddyi_incoming *incoming)
{
	return incoming->in_memory && !eddy_is_cancelled();
}

static int plain(int r)
{
	return r < 0 ? -errno : r;
}

/* Check whether a file has the name, and whether taking the name takes the loop no time, since
 * there is little to free. */
static struct eddyi_incoming_look look(const struct eddyi_incoming *incoming, const char *name)
{
	struct eddyi_incoming_look seen = { .name = name };
	struct stat st;

	if (!is_quick(incoming))
		return seen;
	if (eddyi_fstatat_now(incoming->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		seen.is_quick = errno == ENOENT;
	} else {
		seen.is_taken = true;
		seen.is_quick = st.st_size <= (off_t)QUICK_TO_FREE;
	}
	return seen;
}

/* Whether naming a file by its descriptor has worked: since Linux 6.10 if the process has opened
 * it, before that with CAP_DAC_READ_SEARCH. Otherwise it is named through /proc/self/fd, which
 * costs more. */
static atomic_bool names_descriptors;

static int open_unnamed(const struct eddyi_incoming *incoming)
{
	struct open_how how = { .flags = O_TMPFILE | O_RDWR, .mode = 0666 };

	if (!atomic_load_explicit(&names_descriptors, memory_order_relaxed) &&
	    eddyi_access_now("/proc/self/fd", X_OK) < 0)
		return -EOPNOTSUPP;
	if (is_quick(incoming))
		return plain(
			eddyi_openat_now(incoming->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
	return eddy_openat2(incoming->dir, ".", &how);
}

static bool is_named(int fd)
{
	struct stat st;

	return eddyi_fstat_now(fd, &st) == 0 && st.st_nlink > 0;
}

static int create(const struct eddyi_incoming *incoming, const char *name)
{
	struct open_how how = { .flags = O_CREAT | O_EXCL | O_RDWR, .mode = 0666 };

	if (is_quick(incoming))
		return plain(
			eddyi_openat_now(incoming->dir, name, (int)how.flags | O_CLOEXEC, 0666));
	return eddy_openat2(incoming->dir, name, &how);
}

static int open_hidden(struct eddyi_incoming *incoming)
{
	char *name = incoming->hidden;
	int r;

	for (;;) {
		r = make_hidden_name(name);
		if (r == 0)
			r = create(incoming, name);
		if (r == -EEXIST)
			continue;
		/* A clean-up may have locked or removed the file before it was locked here. */
		if (r < 0 || (lock(r) && is_named(r)))
			break;
		eddyi_close_now(r);
	}
	if (r < 0)
		name[0] = 0;
	return r;
}

static int open_new(struct eddyi_incoming *incoming)
{
	int r;

	/* A file that is renamed at once gets a name at once, which is cheaper than linking it. */
	if (incoming->seen.is_taken && incoming->seen.is_quick)
		return open_hidden(incoming);
	r = open_unnamed(incoming);
	if (r == -EOPNOTSUPP || r == -EISDIR || r == -EINVAL)
		r = open_hidden(incoming);
	return r;
}

static int check_space(struct eddyi_incoming *incoming, uint64_t expected)
{
	struct statfs fs;

	if (eddyi_fstatfs_now(incoming->dir, &fs) < 0)
		return -errno;
	incoming->in_memory = (unsigned long)fs.f_type == TMPFS_MAGIC;
	incoming->can_reserve = !incoming->in_memory;
	if (expected / (uint64_t)fs.f_bsize > (uint64_t)fs.f_bavail)
		return -ENOSPC;
	return 0;
}

int eddyi_incoming_open(struct eddyi_incoming *incoming, int dir, struct eddyi_party *party,
			uint64_t expected, uint64_t max, const char *soon)
{
	int r;

	*incoming = (struct eddyi_incoming){
		.dir = dir,
		.hidden_dir = dir,
		.fd = -1,
		.party = party,
		.max = max,
	};
	if (expected > max)
		return -EFBIG;
	r = check_space(incoming, expected);
	if (r < 0)
		return r;
	r = eddyi_descriptors_take(party, true);
	if (r < 0)
		return r;
	if (soon)
		incoming->seen = look(incoming, soon);
	r = open_new(incoming);
	if (eddyi_open_files_make_room(r))
		r = open_new(incoming);
	if (r < 0) {
		eddyi_descriptors_give_back(party, true);
		return r;
	}
	incoming->fd = r;
	return 0;
}

void eddyi_incoming_continue(struct eddyi_incoming *incoming, int fd, uint64_t size, uint64_t max)
{
	struct statfs fs;

	*incoming = (struct eddyi_incoming){
		.fd = fd, .began = size, .written = size, .reserved = size, .max = max
	};
	incoming->can_reserve = eddyi_fstatfs_now(fd, &fs) == 0 &&
				(unsigned long)fs.f_type != TMPFS_MAGIC;
}

static int close_file(void *arg)
{
	return eddyi_close_now(*(int *)arg);
}

static void forget(struct eddyi_incoming *incoming)
{
	incoming->fd = -1;
	eddyi_descriptors_give_back(incoming->party, true);
}

void eddyi_incoming_close(struct eddyi_incoming *incoming)
{
	struct eddy_scope shield;

	if (incoming->fd < 0)
		return;
	if (incoming->published) {
		close_file(&incoming->fd);
		forget(incoming);
		return;
	}
	eddy_scope_begin(&shield, &(struct eddy_scope_options){
					  .shielded = true,
					  .timeout_ns = CLEAN_UP_NS,
				  });
	if (incoming->hidden[0])
		eddy_unlinkat(incoming->hidden_dir, incoming->hidden, 0);
	eddy_scope_end(&shield);
	/* Closing an unnamed file frees its pages, which takes a while for a GiB. Don't cancel it,
	 * however long the offload pool is busy. */
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	eddy_offload(close_file, &incoming->fd);
	forget(incoming);
	eddy_scope_end(&shield);
}

static int reserve(struct eddyi_incoming *incoming, uint64_t len)
{
	int r;

	if (!incoming->can_reserve || incoming->written < incoming->reserved)
		return 0;
	if (len > RESERVE_STEP)
		len = RESERVE_STEP;
	r = eddy_fallocate(incoming->fd, FALLOC_FL_KEEP_SIZE, incoming->written, len);
	if (r == -EOPNOTSUPP || r == -ENOSYS) {
		incoming->can_reserve = false;
		return 0;
	}
	if (r == 0)
		incoming->reserved = incoming->written + len;
	return r;
}

static uint64_t room_in(const struct eddyi_incoming *incoming)
{
	return incoming->max > incoming->written ? incoming->max - incoming->written : 0;
}

int eddyi_incoming_write(struct eddyi_incoming *incoming, const void *buf, size_t len)
{
	int r;

	if (len > room_in(incoming))
		return -EFBIG;
	r = eddy_transfer_write(incoming->fd, buf, len, incoming->written);
	if (r == 0)
		incoming->written += len;
	return r;
}

/* Let the stream move some of the body into the file. Return: as its `file_in`. */
static int move(struct eddyi_incoming *incoming, struct eddy_req *req)
{
	/* Allocate only after the client has sent some bytes. */
	bool has_begun = incoming->written >= incoming->began + RESERVE_FROM;
	struct eddy_transfer transfer = {
		.file = incoming->fd,
		.offset = incoming->written,
		.len = has_begun ? RESERVE_STEP : RESERVE_FROM,
	};
	uint64_t left = eddyi_req_body_left(req);
	int r = has_begun && left ? reserve(incoming, left) : 0;

	if (r == 0)
		r = req->stream->verbs->file_in(req, &transfer, room_in(incoming));
	incoming->written += transfer.moved;
	return r;
}

/* Append the next bytes through memory, in one write. Return: 1; 0 at the end of the body;
 * -errno. */
static int copy(struct eddyi_incoming *incoming, struct eddy_req *req)
{
	/* Larger writes for larger bodies. */
	uint64_t size = incoming->written / 4, left = eddyi_req_body_left(req);
	size_t len = 0;
	ssize_t r = 1;
	char *buf;
	int written;

	size = size < COPY_MIN ? COPY_MIN : size > COPY_MAX ? COPY_MAX : size;
	if (left && left < size)
		size = left;
	buf = malloc((size_t)size);
	if (!buf)
		return -ENOMEM;
	while (len < size && r > 0) {
		r = req->stream->verbs->read(req, buf + len, (size_t)size - len);
		len += r > 0 ? (size_t)r : 0;
	}
	written = r < 0 ? (int)r : eddyi_incoming_write(incoming, buf, len);
	free(buf);
	return written < 0 ? written : r > 0;
}

int eddyi_incoming_receive_body(struct eddyi_incoming *incoming, struct eddy_req *req)
{
	int r;

	do {
		r = move(incoming, req);
		if (r == -EAGAIN)
			r = copy(incoming, req);
		if (r > 0 && incoming->tell)
			incoming->tell(incoming->tell_arg, incoming->written);
	} while (r > 0);
	return r;
}

int eddyi_incoming_sync(struct eddyi_incoming *incoming)
{
	return eddy_fsync(incoming->fd, true);
}

static int link_from(const struct eddyi_incoming *incoming, int from_dir, const char *from,
		     const char *name, int flags)
{
	if (is_quick(incoming))
		return plain(eddyi_linkat_now(from_dir, from, incoming->dir, name, flags));
	return eddy_linkat(from_dir, from, incoming->dir, name, flags);
}

static int link_as(const struct eddyi_incoming *incoming, const char *name)
{
	int r = link_from(incoming, incoming->fd, "", name, AT_EMPTY_PATH);
	char path[32];

	/* Without the permission; or the folder has been removed. */
	if (r != -ENOENT) {
		if (r == 0)
			atomic_store_explicit(&names_descriptors, true, memory_order_relaxed);
		return r;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", incoming->fd);
	return link_from(incoming, AT_FDCWD, path, name, AT_SYMLINK_FOLLOW);
}

int eddyi_incoming_hide(struct eddyi_incoming *incoming)
{
	char name[EDDYI_HIDDEN_SIZE];
	int r = 0;

	if (incoming->hidden[0])
		return 0;
	lock(incoming->fd); /* nothing else can lock a file without a name */
	do {
		r = make_hidden_name(name);
		if (r == 0)
			r = link_as(incoming, name);
	} while (r == -EEXIST);
	if (r == 0) {
		memcpy(incoming->hidden, name, sizeof(name));
		incoming->hidden_dir = incoming->dir;
	}
	return r;
}

/* A check before the opening suffices: the name may also be taken or freed after another check. */
static struct eddyi_incoming_look look_once(const struct eddyi_incoming *incoming, const char *name)
{
	return incoming->seen.name ? incoming->seen : look(incoming, name);
}

static int rename_as(struct eddyi_incoming *incoming, const char *name, unsigned flags, bool quick)
{
	int r;

	if (quick)
		r = plain(eddyi_renameat2_now(incoming->hidden_dir, incoming->hidden, incoming->dir,
					      name, flags));
	else
		r = eddy_renameat(incoming->hidden_dir, incoming->hidden, incoming->dir, name,
				  flags);
	if (r == -EISDIR || r == -ENOTEMPTY)
		return -EEXIST;
	if (r < 0)
		return r;
	incoming->hidden[0] = 0;
	incoming->published = true;
	return 0;
}

/* For file systems that can't rename without replacing, such as NFS: a link never replaces. */
static int link_hidden_as(struct eddyi_incoming *incoming, const char *name)
{
	int r = eddy_linkat(incoming->hidden_dir, incoming->hidden, incoming->dir, name, 0);

	if (r < 0)
		return r;
	incoming->published = true;
	/* If this fails, a later clean-up removes it. */
	if (eddy_unlinkat(incoming->hidden_dir, incoming->hidden, 0) == 0)
		incoming->hidden[0] = 0;
	return 0;
}

int eddyi_incoming_rename(struct eddyi_incoming *incoming, const char *name, bool no_replace,
			  bool *ret_replaced)
{
	struct eddyi_incoming_look seen = look_once(incoming, name);
	int r = seen.is_taken ? -EEXIST :
				rename_as(incoming, name, RENAME_NOREPLACE, seen.is_quick);
	bool replaced;

	if (r == -EINVAL)
		r = link_hidden_as(incoming, name);
	replaced = r == -EEXIST && !no_replace;
	if (replaced)
		r = rename_as(incoming, name, 0, seen.is_quick && seen.is_taken);
	if (r == 0)
		*ret_replaced = replaced;
	return r;
}

int eddyi_incoming_publish(struct eddyi_incoming *incoming, const char *name, bool no_replace,
			   bool *ret_replaced)
{
	struct eddyi_incoming_look seen;
	int r;

	if (incoming->hidden[0])
		return eddyi_incoming_rename(incoming, name, no_replace, ret_replaced);
	seen = look_once(incoming, name);
	r = seen.is_taken ? -EEXIST : link_as(incoming, name);
	if (r == 0) {
		incoming->published = true;
		*ret_replaced = false;
	}
	if (r != -EEXIST || no_replace)
		return r;
	r = eddyi_incoming_hide(incoming);
	if (r == 0)
		r = rename_as(incoming, name, 0, seen.is_quick && seen.is_taken);
	if (r == 0)
		*ret_replaced = true;
	return r;
}
