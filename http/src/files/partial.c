#include "partial.h"

#include "descriptors.h"
#include "exchange/exchange_state.h"
#include "open_files.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <eddy/file.h>
#include <eddy/list.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <errno.h>
#include <linux/openat2.h>
#include <stdlib.h>

/* A request whose upload another one wants ends within this time, unless its disk is stuck. */
#define END_NS (5 * EDDY_SECOND)
/* Between two looks at the lock of another process, which may have been killed: the kernel frees
 * the lock once it has ended the operations of its ring. */
#define LOCK_NS (10 * EDDY_MS)
/* While there are too many, small uploads without another byte for this time are removed: little is
 * lost with them. */
#define SMALL_MAX ((off_t)EDDY_MIB)
#define SMALL_NS (60 * EDDY_SECOND)
/* Between two sweeps for these. */
#define CROWDED_NS (10 * EDDY_SECOND)
#define STATE_MAX ((size_t)(64 * EDDY_KIB))
#define SAVEPOINT "savepoint"
/* Room for ID and a suffix. */
#define NAME_SIZE (EDDYI_PARTIAL_ID_LEN + sizeof(".json"))

void eddyi_partials_init(struct eddyi_partials *all, int dir, unsigned count_max,
			 uint64_t expire_ns, bool sync)
{
	*all = (struct eddyi_partials){
		.dir = dir,
		.count_max = count_max,
		.expire_ns = expire_ns,
		.sync = sync,
		.folder = -1,
	};
	pthread_mutex_init(&all->lock, NULL);
	eddy_list_init(&all->held);
}

void eddyi_partials_deinit(struct eddyi_partials *all)
{
	if (all->folder >= 0)
		eddyi_close_now(all->folder);
	if (all->dir >= 0)
		eddyi_close_now(all->dir);
	pthread_mutex_destroy(&all->lock);
}

/* ---- holding ---- */

struct eddyi_partial_hold {
	struct eddy_node node;
	unsigned refs; /* the holder's, and one for each request that waits */
	char id[EDDYI_PARTIAL_ID_LEN + 1];
	struct eddy_shared_event wanted;
	struct eddy_shared_event ended;
	bool is_wanted;
};

static struct eddyi_partial_hold *find_hold(struct eddyi_partials *all, const char *id)
{
	for (struct eddy_node *node = all->held.next; node != &all->held; node = node->next) {
		struct eddyi_partial_hold *hold = eddy_of(node, struct eddyi_partial_hold, node);

		if (strcmp(hold->id, id) == 0)
			return hold;
	}
	return NULL;
}

/* The lock is held. */
static void hold_unref(struct eddyi_partial_hold *hold)
{
	if (--hold->refs == 0)
		free(hold);
}

/* Hold the id. If another request holds it, get a reference to its hold. Return: 0, -EBUSY,
 * -ENOMEM. */
static int try_hold(struct eddyi_partial *partial, struct eddyi_partial_hold **ret_other)
{
	struct eddyi_partials *all = partial->all;
	struct eddyi_partial_hold *hold;
	int r = 0;

	pthread_mutex_lock(&all->lock);
	hold = find_hold(all, partial->id);
	if (hold) {
		hold->refs++;
		hold->is_wanted = true;
		*ret_other = hold;
		r = -EBUSY;
	} else if ((hold = calloc(1, sizeof(*hold)))) {
		hold->refs = 1;
		memcpy(hold->id, partial->id, sizeof(hold->id));
		eddy_shared_event_init(&hold->wanted);
		eddy_shared_event_init(&hold->ended);
		eddy_list_append(&all->held, &hold->node);
		partial->hold = hold;
	} else {
		r = -ENOMEM;
	}
	pthread_mutex_unlock(&all->lock);
	return r;
}

static int await_end(struct eddyi_partials *all, struct eddyi_partial_hold *other)
{
	struct eddy_scope scope;
	int r;

	eddy_shared_event_set(&other->wanted);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = END_NS });
	r = eddy_shared_event_wait(&other->ended);
	if (eddy_scope_end(&scope) == -ETIMEDOUT)
		r = -EBUSY;
	pthread_mutex_lock(&all->lock);
	hold_unref(other);
	pthread_mutex_unlock(&all->lock);
	return r;
}

/* Suspends. */
static int take_hold(struct eddyi_partial *partial)
{
	struct eddyi_partial_hold *other;
	int r;

	do {
		r = try_hold(partial, &other);
		if (r != -EBUSY)
			return r;
		r = await_end(partial->all, other);
	} while (r == 0);
	return r;
}

static void release_hold(struct eddyi_partial *partial)
{
	struct eddyi_partial_hold *hold = partial->hold;

	if (!hold)
		return;
	pthread_mutex_lock(&partial->all->lock);
	eddy_list_remove(&hold->node);
	pthread_mutex_unlock(&partial->all->lock);
	eddy_shared_event_set(&hold->ended);
	pthread_mutex_lock(&partial->all->lock);
	hold_unref(hold);
	pthread_mutex_unlock(&partial->all->lock);
	partial->hold = NULL;
}

bool eddyi_partial_is_wanted(const struct eddyi_partial *partial)
{
	bool wanted;

	pthread_mutex_lock(&partial->all->lock);
	wanted = partial->hold->is_wanted;
	pthread_mutex_unlock(&partial->all->lock);
	return wanted;
}

/* ---- files: these functions block, and run on the offload pool ---- */

static bool is_id(struct eddy_str id)
{
	for (size_t i = 0; i < id.len; i++)
		if (!strchr("0123456789abcdef", id.ptr[i]) || !id.ptr[i])
			return false;
	return id.len == EDDYI_PARTIAL_ID_LEN;
}

static bool begins_with_id(const char *name)
{
	return strlen(name) >= EDDYI_PARTIAL_ID_LEN && is_id(eddy_str(name, EDDYI_PARTIAL_ID_LEN));
}

static const char *name_of(const char *id, const char *suffix, char name[NAME_SIZE])
{
	stpcpy(stpcpy(name, id), suffix);
	return name;
}

/* Open the folder of the uploads. Return: it, -errno. */
static int open_folder(const struct eddyi_partials *all, bool make)
{
	int r;

	if (make && eddyi_mkdirat_now(all->dir, EDDYI_PARTIAL_FOLDER, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (make && all->sync && eddyi_fsync_now(all->dir) < 0)
		return -errno;
	r = eddyi_openat_now(all->dir, EDDYI_PARTIAL_FOLDER,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	return r < 0 ? -errno : r;
}

/* Return: the folder, which stays open; -errno. */
static int folder_of(struct eddyi_partials *all, bool make)
{
	int r;

	pthread_mutex_lock(&all->lock);
	r = all->folder < 0 ? open_folder(all, make) : all->folder;
	if (r >= 0)
		all->folder = r;
	pthread_mutex_unlock(&all->lock);
	return r;
}

/* The folder that was open has been removed: make it again, under the same number, which others
 * use. */
static int renew_folder(struct eddyi_partials *all)
{
	int r, fd;

	pthread_mutex_lock(&all->lock);
	fd = open_folder(all, true);
	r = fd < 0 ? fd : eddyi_dup3_now(fd, all->folder, O_CLOEXEC) < 0 ? -errno : 0;
	if (fd >= 0)
		eddyi_close_now(fd);
	pthread_mutex_unlock(&all->lock);
	return r;
}

/* Without locks on the file system, two processes may write to an upload. Return: 0, -EBUSY. */
static int lock_file(int fd)
{
	return eddyi_flock_now(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? -EBUSY : 0;
}

static int write_whole(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t r = eddyi_write_now(fd, text, len);

		if (r < 0 && errno != EINTR)
			return -errno;
		text += r > 0 ? r : 0;
		len -= r > 0 ? (size_t)r : 0;
	}
	return 0;
}

static int write_state(const struct eddyi_partial *partial, int folder, const char *text)
{
	char new[NAME_SIZE], name[NAME_SIZE];
	int fd = eddyi_openat_now(folder, name_of(partial->id, ".new", new),
				  O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = write_whole(fd, text, strlen(text));
	if (r == 0 && partial->all->sync && eddyi_fsync_now(fd) < 0)
		r = -errno;
	eddyi_close_now(fd);
	if (r == 0 &&
	    eddyi_renameat2_now(folder, new, folder, name_of(partial->id, ".json", name), 0) < 0)
		r = -errno;
	if (r == 0 && partial->all->sync && eddyi_fsync_now(folder) < 0)
		r = -errno;
	if (r < 0)
		eddyi_unlinkat_now(folder, new, 0);
	return r;
}

static int save(void *arg)
{
	const struct eddyi_partial *partial = arg;
	char *text = json_dumps(partial->state, JSON_COMPACT);
	int r = !text                    ? -ENOMEM :
		strlen(text) > STATE_MAX ? -EMSGSIZE :
					   write_state(partial, partial->all->folder, text);

	free(text);
	return r;
}

/* Return: 0; -ENOENT if there is none, or it is damaged; -errno. */
static int read_state(int folder, const char *id, json_t **ret_state)
{
	char name[NAME_SIZE];
	int fd = eddyi_openat_now(folder, name_of(id, ".json", name),
				  O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	char *text = fd < 0 ? NULL : malloc(STATE_MAX);
	ssize_t len = text ? eddyi_pread_now(fd, text, STATE_MAX, 0) : -1;
	int r = len < 0 ? -errno : -ENOENT;
	json_t *state = NULL;
	json_error_t error;

	if (len > 0)
		state = json_loadb(text, (size_t)len, JSON_REJECT_DUPLICATES, &error);
	if (len > 0 && !state && json_error_code(&error) == json_error_out_of_memory)
		r = -ENOMEM;
	free(text);
	if (fd >= 0)
		eddyi_close_now(fd);
	if (json_is_string(json_object_get(state, "path"))) {
		*ret_state = state;
		return 0;
	}
	json_decref(state);
	return r;
}

static bool is_past(uint64_t age_ns, struct timespec time)
{
	uint64_t now = eddyi_clock(CLOCK_REALTIME);
	uint64_t then = (uint64_t)time.tv_sec * EDDY_SECOND + (uint64_t)time.tv_nsec;

	return now > then && now - then > age_ns;
}

/* Get the time a file was made, in ns; 0 if its file system does not keep it. A file that gets the
 * inode number of a removed one is younger. */
static json_int_t birth_of(int fd)
{
	struct statx st;

	if (eddyi_statx_now(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) < 0 ||
	    !(st.stx_mask & STATX_BTIME))
		return 0;
	return (json_int_t)(st.stx_btime.tv_sec * (int64_t)EDDY_SECOND + st.stx_btime.tv_nsec);
}

static bool has_number(const json_t *state, const char *name, json_int_t value)
{
	return json_integer_value(json_object_get(state, name)) == value;
}

/* Look for the target of an upload whose bytes have gone. Return: 0; -ENOENT if it was never
 * completed, or its target is no longer there; -errno. */
static int find_target(const struct eddyi_partials *all, const json_t *state, struct stat *ret_st)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	const json_t *target = json_object_get(state, "target");
	const char *path = json_string_value(target ? target : json_object_get(state, "path"));
	int fd = !path ? -1 : eddyi_openat2_now(all->dir, path, &how, sizeof(how)), r = 0;

	if (!path)
		return -ENOENT;
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP || errno == EXDEV ? -ENOENT : -errno;
	if (eddyi_fstat_now(fd, ret_st) < 0)
		r = -errno;
	else if (!has_number(state, "inode", (json_int_t)ret_st->st_ino) ||
		 !has_number(state, "birth", birth_of(fd)))
		r = -ENOENT;
	eddyi_close_now(fd);
	return r;
}

struct creation {
	struct eddyi_partial *partial;
	int target;
};

static int create_file(struct eddyi_partial *partial, int folder, int target)
{
	struct stat st, st_target;

	if (eddyi_fstat_now(folder, &st) < 0 || eddyi_fstat_now(target, &st_target) < 0)
		return -errno;
	if (st.st_dev != st_target.st_dev)
		return -EXDEV;
	partial->fd = eddyi_openat_now(folder, partial->id,
				       O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (partial->fd < 0 || eddyi_fstat_now(partial->fd, &st) < 0)
		return -errno;
	lock_file(partial->fd);
	if (json_object_set_new(partial->state, "inode", json_integer((json_int_t)st.st_ino)) < 0 ||
	    json_object_set_new(partial->state, "birth", json_integer(birth_of(partial->fd))) < 0)
		return -ENOMEM;
	return save(partial);
}

static void close_bytes(struct eddyi_partial *partial)
{
	if (partial->fd >= 0)
		eddyi_close_now(partial->fd);
	partial->fd = -1;
}

static int create(void *arg)
{
	struct creation *creation = arg;
	struct eddyi_partial *partial = creation->partial;
	int folder = folder_of(partial->all, true);
	int r = folder < 0 ? folder : create_file(partial, folder, creation->target);

	if (r == -ENOENT) {
		close_bytes(partial);
		if (renew_folder(partial->all) == 0)
			r = create_file(partial, folder, creation->target);
	}
	if (r < 0 && partial->fd >= 0)
		eddyi_unlinkat_now(folder, partial->id, 0);
	return r;
}

/* Open and lock the bytes. Return: 0; -ENOENT if there are none, or another process has just
 * published or removed them; -EBUSY; -errno. */
static int open_bytes(struct eddyi_partial *partial, int folder, struct stat *ret_st)
{
	struct stat named;

	close_bytes(partial);
	partial->fd = eddyi_openat_now(folder, partial->id, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	if (partial->fd < 0)
		return -errno;
	if (lock_file(partial->fd) < 0)
		return -EBUSY;
	if (eddyi_fstat_now(partial->fd, ret_st) < 0 ||
	    eddyi_fstatat_now(folder, partial->id, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

/* Take back the bytes behind the savepoint, if there is one. */
static int roll_back(void *arg)
{
	struct eddyi_partial *partial = arg;
	const json_t *savepoint = json_object_get(partial->state, SAVEPOINT);
	struct stat st;

	if (!json_is_integer(savepoint))
		return 0;
	/* After a power failure the file may be shorter. */
	if (eddyi_fstat_now(partial->fd, &st) < 0)
		return -errno;
	partial->offset = (uint64_t)json_integer_value(savepoint);
	if (partial->offset > (uint64_t)st.st_size)
		partial->offset = (uint64_t)st.st_size;
	if (eddyi_ftruncate_now(partial->fd, (off_t)partial->offset) < 0)
		return -errno;
	json_object_del(partial->state, SAVEPOINT);
	return save(partial);
}

static int find(void *arg)
{
	struct eddyi_partial *partial = arg;
	struct eddyi_partials *all = partial->all;
	int folder = folder_of(all, false), r;
	struct stat st, target;

	if (folder < 0)
		return folder;
	r = open_bytes(partial, folder, &st);
	if (r < 0 && r != -ENOENT)
		return r;
	partial->is_complete = r < 0;
	json_decref(partial->state);
	partial->state = NULL;
	r = read_state(folder, partial->id, &partial->state);
	/* Published by a link that was not followed by its unlinking; other links, as of a backup,
	 * do not matter. */
	if (r == 0 && !partial->is_complete && st.st_nlink > 1 &&
	    find_target(all, partial->state, &target) == 0) {
		eddyi_unlinkat_now(folder, partial->id, 0);
		partial->is_complete = true;
	}
	if (partial->is_complete)
		close_bytes(partial);
	if (r == 0 && partial->is_complete)
		r = find_target(all, partial->state, &st);
	if (r < 0)
		return r;
	if (is_past(all->expire_ns, partial->is_complete ? st.st_ctim : st.st_mtim))
		return -ENOENT;
	partial->offset = (uint64_t)st.st_size;
	return partial->is_complete ? 0 : roll_back(partial);
}

static int discard(void *arg)
{
	struct eddyi_partial *partial = arg;
	int folder = partial->all->folder;
	char name[NAME_SIZE];

	if (!partial->is_complete && eddyi_unlinkat_now(folder, partial->id, 0) < 0 &&
	    errno != ENOENT)
		return -errno;
	eddyi_unlinkat_now(folder, name_of(partial->id, ".json", name), 0);
	/* This may free its pages, which takes a while. */
	close_bytes(partial);
	return 0;
}

/* ---- one upload ---- */

static void uncount(struct eddyi_partials *all)
{
	pthread_mutex_lock(&all->lock);
	/* Another process may have removed some of those that were counted. */
	if (all->count)
		all->count--;
	pthread_mutex_unlock(&all->lock);
}

static bool count_one_more(struct eddyi_partials *all)
{
	bool fits;

	pthread_mutex_lock(&all->lock);
	fits = all->count < all->count_max;
	if (fits)
		all->count++;
	pthread_mutex_unlock(&all->lock);
	return fits;
}

static int check_space(int dir, uint64_t length)
{
	struct statfs fs;

	if (eddyi_fstatfs_now(dir, &fs) < 0)
		return -errno;
	if (length != EDDY_LENGTH_UNKNOWN && length / (uint64_t)fs.f_bsize > (uint64_t)fs.f_bavail)
		return -ENOSPC;
	return 0;
}

/* Run a job that opens the upload's file. Suspends. */
static int open_by(struct eddyi_partial *partial, eddy_offload_fn *job, void *arg)
{
	int r = eddyi_descriptors_take(partial->party, true);

	if (r < 0)
		return r;
	r = eddy_offload(job, arg);
	if (eddyi_open_files_make_room(r))
		r = eddy_offload(job, arg);
	if (r < 0)
		close_bytes(partial);
	if (partial->fd < 0)
		eddyi_descriptors_give_back(partial->party, true);
	return r;
}

int eddyi_partial_create(struct eddyi_partial *partial, struct eddyi_partials *all,
			 struct eddyi_party *party, int target, json_t *state)
{
	struct creation creation = { partial, target };
	unsigned char random[EDDYI_PARTIAL_ID_LEN / 2];
	int r;

	*partial = (struct eddyi_partial){ .all = all, .party = party, .fd = -1, .state = state };
	if (!state)
		return -ENOMEM;
	r = check_space(target, eddyi_partial_length(partial));
	if (r == 0)
		r = eddyi_random(random, sizeof(random), 0);
	if (r < 0)
		return r;
	*eddyi_hex_format(random, sizeof(random), partial->id) = 0;
	r = take_hold(partial);
	if (r < 0)
		return r;
	if (!count_one_more(all))
		return -EDQUOT;
	r = open_by(partial, create, &creation);
	if (r < 0)
		uncount(all);
	return r;
}

int eddyi_partial_find(struct eddyi_partial *partial, struct eddyi_partials *all,
		       struct eddyi_party *party, struct eddy_str id)
{
	uint64_t began = eddy_now();
	int r;

	*partial = (struct eddyi_partial){ .all = all, .party = party, .fd = -1 };
	if (!is_id(id))
		return -ENOENT;
	memcpy(partial->id, id.ptr, id.len);
	r = take_hold(partial);
	if (r == 0)
		r = open_by(partial, find, partial);
	while (r == -EBUSY && eddy_now() - began < END_NS) {
		r = eddy_sleep(LOCK_NS);
		if (r == 0)
			r = open_by(partial, find, partial);
	}
	return r;
}

void eddyi_partial_close(struct eddyi_partial *partial)
{
	json_decref(partial->state);
	if (partial->fd >= 0) {
		eddyi_close_now(partial->fd);
		eddyi_descriptors_give_back(partial->party, true);
	}
	release_hold(partial);
}

uint64_t eddyi_partial_length(const struct eddyi_partial *partial)
{
	const json_t *length = json_object_get(partial->state, "length");

	if (partial->is_complete)
		return partial->offset;
	return json_is_integer(length) && json_integer_value(length) >= 0 ?
		       (uint64_t)json_integer_value(length) :
		       EDDY_LENGTH_UNKNOWN;
}

struct eddy_str eddyi_partial_text(const struct eddyi_partial *partial, const char *name)
{
	const json_t *text = json_object_get(partial->state, name);

	return eddy_str(json_string_value(text), json_string_length(text));
}

int eddyi_partial_save(struct eddyi_partial *partial)
{
	return eddy_offload(save, partial);
}

/* Task: cancel the receiving if another request wants the upload. */
static int watch(void *arg)
{
	struct eddyi_partial *partial = arg;
	int r = eddy_shared_event_wait(&partial->hold->wanted);

	return r < 0 ? r : -EOWNERDEAD;
}

/* Read what has arrived from the file itself: a failed write may have written a part. */
static int measure(struct eddyi_partial *partial)
{
	struct stat st;

	if (eddyi_fstat_now(partial->fd, &st) < 0)
		return -errno;
	partial->offset = (uint64_t)st.st_size;
	/* Frees the disk space that is allocated behind them. */
	return eddyi_ftruncate_now(partial->fd, st.st_size) < 0 ? -errno : 0;
}

/* The offset is told also after a failure. */
static int sync_shielded(struct eddyi_partial *partial)
{
	struct eddy_scope shield;
	int r;

	if (!partial->all->sync)
		return 0;
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	r = eddyi_partial_sync(partial);
	eddy_scope_end(&shield);
	return r;
}

int eddyi_partial_receive(struct eddyi_partial *partial, struct eddy_req *req, uint64_t max,
			  void (*tell)(void *arg, uint64_t offset), void *arg)
{
	struct eddyi_incoming incoming;
	struct eddy_scope scope;
	int r, measured;

	eddyi_incoming_continue(&incoming, partial->fd, partial->offset, max);
	incoming.tell = tell;
	incoming.tell_arg = arg;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .fail_fast = true });
	r = eddy_scope_spawn(&scope, "upload wanted", watch, partial);
	if (r == 0)
		r = eddyi_incoming_receive_body(&incoming, req);
	eddy_scope_end(&scope);
	measured = measure(partial);
	if (measured == 0)
		measured = sync_shielded(partial);
	return measured < 0 ? measured : r;
}

int eddyi_partial_savepoint(struct eddyi_partial *partial)
{
	json_t *offset = json_integer((json_int_t)partial->offset);

	if (json_object_set_new(partial->state, SAVEPOINT, offset) < 0)
		return -ENOMEM;
	return eddyi_partial_save(partial);
}

int eddyi_partial_commit(struct eddyi_partial *partial)
{
	json_t *savepoint = json_incref(json_object_get(partial->state, SAVEPOINT));
	int r;

	json_object_del(partial->state, SAVEPOINT);
	r = eddyi_partial_save(partial);
	/* It is in the stored state still, and so what follows it does not count. */
	if (r < 0)
		json_object_set(partial->state, SAVEPOINT, savepoint);
	json_decref(savepoint);
	return r;
}

int eddyi_partial_roll_back(struct eddyi_partial *partial)
{
	struct eddy_scope shield;
	int r;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	r = eddy_offload(roll_back, partial);
	eddy_scope_end(&shield);
	return r;
}

int eddyi_partial_sync(struct eddyi_partial *partial)
{
	return partial->all->sync && partial->fd >= 0 ? eddy_fsync(partial->fd, true) : 0;
}

int eddyi_partial_publish(struct eddyi_partial *partial, int dir, const char *name, bool no_replace,
			  bool *ret_replaced)
{
	struct eddyi_incoming incoming;
	int r = eddyi_partial_sync(partial);

	if (r < 0)
		return r;
	eddyi_incoming_continue(&incoming, partial->fd, partial->offset, partial->offset);
	incoming.dir = dir;
	incoming.hidden_dir = partial->all->folder;
	memcpy(incoming.hidden, partial->id, sizeof(partial->id));
	r = eddyi_incoming_rename(&incoming, name, no_replace, ret_replaced);
	if (r < 0)
		return r;
	partial->is_complete = true;
	uncount(partial->all);
	return partial->all->sync ? eddy_fsync(dir, false) : 0;
}

int eddyi_partial_remove(struct eddyi_partial *partial)
{
	bool had_bytes = partial->fd >= 0;
	struct eddy_scope shield;
	int r;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	r = eddy_offload(discard, partial);
	eddy_scope_end(&shield);
	if (r < 0)
		return r;
	if (!partial->is_complete)
		uncount(partial->all);
	if (had_bytes && partial->fd < 0)
		eddyi_descriptors_give_back(partial->party, true);
	partial->is_complete = true;
	return 0;
}

/* ---- the sweep ---- */

struct sweep {
	struct eddyi_partials *all;
	json_t *expired; /* an array of states */
	unsigned count;  /* of incomplete ones that stay */
	bool is_crowded; /* there are as many as may be */
};

static bool has_expired(const struct sweep *sweep, const struct stat *st)
{
	return is_past(sweep->all->expire_ns, st->st_mtim) ||
	       (sweep->is_crowded && st->st_size < SMALL_MAX && is_past(SMALL_NS, st->st_mtim));
}

/* Remove the bytes of an upload that has expired, unless it is held. Return: whether they were
 * removed. */
static bool remove_bytes(struct sweep *sweep, int folder, const char *id)
{
	int fd = eddyi_openat_now(folder, id, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	struct stat st;
	bool removed;

	if (fd < 0)
		return false;
	removed = lock_file(fd) == 0 && eddyi_fstat_now(fd, &st) == 0 && has_expired(sweep, &st) &&
		  eddyi_unlinkat_now(folder, id, 0) == 0;
	eddyi_close_now(fd);
	return removed;
}

static void sweep_bytes(struct sweep *sweep, int folder, const char *id)
{
	json_t *state = NULL;
	struct stat st;
	char name[NAME_SIZE];

	if (eddyi_fstatat_now(folder, id, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!has_expired(sweep, &st) || !remove_bytes(sweep, folder, id)) {
		sweep->count++;
		return;
	}
	if (read_state(folder, id, &state) == 0)
		json_array_append_new(sweep->expired, state);
	eddyi_unlinkat_now(folder, name_of(id, ".json", name), 0);
}

/* Remove a state whose upload was completed long ago, or is gone. */
static void sweep_state(struct sweep *sweep, int folder, const char *id, const char *name)
{
	json_t *state = NULL;
	struct stat st;
	int r;

	if (eddyi_fstatat_now(folder, id, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	    eddyi_fstatat_now(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !is_past(sweep->all->expire_ns, st.st_mtim))
		return;
	r = read_state(folder, id, &state);
	if (r == 0)
		r = find_target(sweep->all, state, &st);
	if (r == -ENOENT || (r == 0 && is_past(sweep->all->expire_ns, st.st_ctim)))
		eddyi_unlinkat_now(folder, name, 0);
	json_decref(state);
}

static void sweep_entry(struct sweep *sweep, int folder, const char *name)
{
	char id[EDDYI_PARTIAL_ID_LEN + 1];

	memcpy(id, name, EDDYI_PARTIAL_ID_LEN);
	id[EDDYI_PARTIAL_ID_LEN] = 0;
	if (strcmp(name, id) == 0)
		sweep_bytes(sweep, folder, id);
	else
		sweep_state(sweep, folder, id, name);
}

static int sweep_all(void *arg)
{
	struct sweep *sweep = arg;
	int folder = folder_of(sweep->all, false), fd;
	struct dirent *entry;
	DIR *list;

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	fd = eddyi_openat_now(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	list = fd < 0 ? NULL : eddyi_fdopendir_now(fd);
	if (!list) {
		int error = -errno;

		if (fd >= 0)
			eddyi_close_now(fd);
		return error;
	}
	while ((entry = eddyi_readdir_now(list)))
		if (begins_with_id(entry->d_name))
			sweep_entry(sweep, folder, entry->d_name);
	eddyi_closedir_now(list);
	return 0;
}

bool eddyi_partials_want_sweep(struct eddyi_partials *all)
{
	bool wanted;

	pthread_mutex_lock(&all->lock);
	wanted = all->count >= all->count_max && !all->sweeping &&
		 eddy_now() - all->swept >= CROWDED_NS;
	pthread_mutex_unlock(&all->lock);
	return wanted;
}

int eddyi_partials_sweep(struct eddyi_partials *all,
			 void (*expired)(void *arg, const json_t *state), void *arg)
{
	struct sweep sweep = { .all = all };
	unsigned before;
	bool runs;
	int r;

	pthread_mutex_lock(&all->lock);
	before = all->count;
	all->swept = eddy_now();
	runs = all->sweeping;
	all->sweeping = true;
	pthread_mutex_unlock(&all->lock);
	if (runs)
		return 0;
	sweep.expired = json_array();
	sweep.is_crowded = before >= all->count_max;
	r = sweep.expired ? eddy_offload(sweep_all, &sweep) : -ENOMEM;
	pthread_mutex_lock(&all->lock);
	/* Uploads that began or ended meanwhile may count twice, or not at all, until the next
	 * sweep. */
	if (r == 0)
		all->count = sweep.count + all->count > before ? sweep.count + all->count - before :
								 0;
	all->sweeping = false;
	pthread_mutex_unlock(&all->lock);
	for (size_t i = 0; expired && i < json_array_size(sweep.expired); i++)
		expired(arg, json_array_get(sweep.expired, i));
	json_decref(sweep.expired);
	return r;
}
