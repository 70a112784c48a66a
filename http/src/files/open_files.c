#include "open_files.h"

#include "app/app.h"
#include "descriptors.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <eddy/file.h>
#include <eddy/loop.h>
#include <eddy/internal/siphash.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define BUCKETS 1024

/* All loops together keep at most one in so many of the process's descriptors. */
#define SHARE 8

/* Files with longer paths are not kept, since clients choose the paths. */
#define PATH_LEN_MAX 1024

/* Longer than a kernel tick, within which two changes may get the same ctime. */
#define TICK_NS (20 * EDDY_MS)

/* The bytes of files up to this size are kept as well. */
#define BYTES_MAX ((off_t)(8 * EDDY_KIB))

/* Of one loop. */
struct table {
	struct eddyi_at_end at_end;
	uint64_t secret[2];
	struct eddy_node recent;
	unsigned count;
	struct eddyi_open_file *buckets[BUCKETS];
};

static _Thread_local struct table *here;

/* ---- the table ---- */

static void unref(struct eddyi_open_file *file)
{
	if (--file->refs)
		return;
	eddyi_window_close(&file->window);
	eddyi_close_now(file->fd);
	eddyi_descriptors_give_back(NULL, false);
	free(file->fields.headers);
	free(file->bytes);
	free(file);
}

static struct eddyi_open_file **bucket_of(struct table *table, uint64_t hash)
{
	return &table->buckets[hash % BUCKETS];
}

static void take_out(struct table *table, struct eddyi_open_file *file)
{
	struct eddyi_open_file **at = bucket_of(table, file->hash);

	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	eddy_list_remove(&file->recent);
	eddy_timer_disarm(&file->timer);
	table->count--;
	unref(file);
}

static void expire(struct eddy_timer *timer)
{
	take_out(here, eddy_of(timer, struct eddyi_open_file, timer));
}

static struct eddyi_open_file *oldest(struct table *table)
{
	return eddy_of(table->recent.next, struct eddyi_open_file, recent);
}

bool eddyi_open_files_drop(void)
{
	struct table *table = here;
	bool had_any = table && table->count;

	while (table && table->count)
		take_out(table, oldest(table));
	return had_any;
}

bool eddyi_open_files_make_room(int error)
{
	return (error == -EMFILE || error == -ENFILE) && eddyi_open_files_drop();
}

static void loop_ends(struct eddyi_at_end *at_end)
{
	eddyi_open_files_drop();
	here = NULL;
	free(eddy_of(at_end, struct table, at_end));
}

/* Return: NULL on allocation failure. */
static struct table *table_here(void)
{
	struct table *table = here;

	if (table)
		return table;
	table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	if (eddyi_random(table->secret, sizeof(table->secret), GRND_NONBLOCK) < 0) {
		free(table);
		return NULL;
	}
	eddy_list_init(&table->recent);
	eddyi_loop_at_end(&table->at_end, loop_ends);
	here = table;
	return table;
}

static struct eddyi_open_file *find(struct table *table, unsigned folder, struct eddy_str path,
				    enum eddy_coding coding, uint64_t hash)
{
	struct eddyi_open_file *file = *bucket_of(table, hash);

	while (file && (file->hash != hash || file->folder != folder || file->coding != coding ||
			file->len != path.len || memcmp(file->path, path.ptr, path.len) != 0))
		file = file->next;
	return file;
}

static unsigned max_of(const struct eddy_app *app)
{
	struct rlimit limit;
	unsigned max = app->options.open_files_max;
	uint64_t share = UINT64_MAX;

	if (eddyi_getrlimit_now(RLIMIT_NOFILE, &limit) == 0)
		share = limit.rlim_cur / SHARE / app->options.workers;
	return share < max ? (unsigned)share : max;
}

static uint64_t end_of(uint64_t valid_ns)
{
	uint64_t now = eddy_loop_now();

	return valid_ns < EDDY_NEVER - now ? now + valid_ns : EDDY_NEVER;
}

/* Another task may have added the same file meanwhile. */
static void put(struct table *table, struct eddyi_open_file *file, const struct eddy_app *app)
{
	struct eddyi_open_file *old = find(table, file->folder, eddy_str(file->path, file->len),
					   file->coding, file->hash);
	unsigned max = max_of(app);

	if (old)
		take_out(table, old);
	while (table->count && table->count >= max)
		take_out(table, oldest(table));
	if (!max)
		return;
	file->refs++;
	file->next = *bucket_of(table, file->hash);
	*bucket_of(table, file->hash) = file;
	eddy_list_append(&table->recent, &file->recent);
	eddy_timer_arm(&file->timer, end_of(app->options.open_files_valid_ns));
	table->count++;
}

/* ---- opening ---- */

/* Open `path` beneath the folder for reading, without blocking; `resolve` is added to the flags of
 * openat2(2). Return: a descriptor, maybe of a folder or device; -ELOOP for a link that `resolve`
 * forbids; -ENOENT also if the path leads outside; -ENOTDIR, -EACCES, -EMFILE, -errno. */
static int open_file(int dir, struct eddyi_party *party, const char *path, uint64_t resolve)
{
	/* O_NONBLOCK is for a FIFO, which is rejected later. */
	struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
	};
	int fd = eddyi_descriptors_take(party, false);

	if (fd < 0)
		return fd;
	fd = eddy_openat2(dir, path, &how);
	if (eddyi_open_files_make_room(fd))
		fd = eddy_openat2(dir, path, &how);
	/* Cached for later requests. */
	eddyi_opened_forget(fd);
	/* With the flag the ring would give up on file systems that can't read without waiting. */
	if (fd >= 0 && eddyi_fcntl_now(fd, F_SETFL, 0) < 0) {
		int error = errno;

		eddyi_close_now(fd);
		fd = -error;
	}
	if (fd < 0)
		eddyi_descriptors_give_back(NULL, false);
	if (fd == -ELOOP && resolve)
		return fd;
	if (fd == -ELOOP || fd == -EXDEV || fd == -ENAMETOOLONG || fd == -ENXIO || fd == -ENODEV)
		return -ENOENT;
	return fd;
}

static void close_file(int fd)
{
	eddyi_close_now(fd);
	eddyi_descriptors_give_back(NULL, false);
}

static void close_counted(struct eddyi_outgoing *file)
{
	close_file(file->fd);
}

static const struct eddyi_outgoing_verbs counted = { .close = close_counted };

static int stat_regular(int fd, struct stat *ret_st)
{
	if (eddyi_fstat_now(fd, ret_st) < 0)
		return -errno;
	return S_ISREG(ret_st->st_mode) ? 0 : S_ISDIR(ret_st->st_mode) ? -EISDIR : -ENOENT;
}

static int open_own(int dir, struct eddyi_party *party, const char *path, uint64_t resolve,
		    struct eddyi_found *ret_found)
{
	int fd = open_file(dir, party, path, resolve);
	int r = fd < 0 ? fd : stat_regular(fd, &ret_found->st);

	if (r == 0)
		ret_found->file = (struct eddyi_outgoing){
			.fd = fd,
			.device = ret_found->st.st_dev,
			.verbs = &counted,
		};
	else if (fd >= 0)
		close_file(fd);
	return r;
}

/* Whether the last change was well before `then`, so that each change since shows in the ctime,
 * which may have the resolution of a clock tick. */
static bool has_settled(const struct stat *st, uint64_t then)
{
	int64_t changed = st->st_ctim.tv_sec, now = (int64_t)(then / EDDY_SECOND);

	if (changed < now - 1 || changed > now)
		return changed < now;
	return (uint64_t)changed * EDDY_SECOND + (uint64_t)st->st_ctim.tv_nsec + TICK_NS < then;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_as_it_was(const struct eddyi_open_file *file, const struct stat *st)
{
	return st->st_nlink == file->st.st_nlink && st->st_size == file->st.st_size &&
	       same_time(st->st_ctim, file->st.st_ctim) && same_time(st->st_mtim, file->st.st_mtim);
}

static void release(struct eddyi_outgoing *outgoing)
{
	unref(outgoing->owner);
}

/* If the file changes meanwhile, that shows in its state before the next use. */
static void load(struct eddyi_outgoing *outgoing)
{
	struct eddyi_open_file *file = outgoing->owner;
	size_t size;
	char *bytes;

	if (file->st.st_size > BYTES_MAX || !eddyi_transfer_copies_out((uint64_t)file->st.st_size))
		return;
	size = (size_t)file->st.st_size;
	bytes = malloc(size + 1);
	if (!bytes || eddyi_transfer_read(file->fd, bytes, size, 0) < 0) {
		free(bytes);
		return;
	}
	/* Another task may have read them meanwhile, and another response may use those. */
	if (file->bytes)
		free(bytes);
	else
		file->bytes = bytes;
	outgoing->bytes = file->bytes;
}

static const struct eddyi_outgoing_verbs lent = { release, load };

/* Let a response use a file, to which it has a reference. */
static void lend(struct eddyi_open_file *file, struct eddyi_outgoing *ret_outgoing)
{
	*ret_outgoing = (struct eddyi_outgoing){
		.fd = file->fd,
		.device = file->st.st_dev,
		.warmth = &file->warmth,
		.window = &file->window,
		.bytes = file->bytes,
		.verbs = &lent,
		.owner = file,
	};
}

struct eddyi_open_file *eddyi_open_file_of(const struct eddyi_outgoing *file)
{
	return file->verbs == &lent ? file->owner : NULL;
}

/* Keep what was found. On allocation failure it is not kept. */
static void keep(struct table *table, const struct eddyi_folder *folder, struct eddy_str path,
		 enum eddy_coding coding, uint64_t hash, struct eddyi_found *found)
{
	struct eddyi_open_file *file = malloc(sizeof(*file) + path.len + 1);

	if (!file)
		return;
	*file = (struct eddyi_open_file){
		.fd = found->file.fd,
		.refs = 1,
		.timer = { .fire = expire },
		.hash = hash,
		.folder = folder->number,
		.coding = coding,
		.st = found->st,
		.len = path.len,
	};
	memcpy(file->path, path.ptr, path.len + 1);
	lend(file, &found->file);
	put(table, file, folder->app);
}

/* Use a file of the table if it is unchanged. */
static bool give(struct table *table, struct eddyi_open_file *file, struct eddyi_found *ret_found)
{
	if (eddyi_fstat_now(file->fd, &ret_found->st) < 0 || !is_as_it_was(file, &ret_found->st)) {
		take_out(table, file);
		return false;
	}
	eddy_list_remove(&file->recent);
	eddy_list_append(&table->recent, &file->recent);
	file->refs++;
	lend(file, &ret_found->file);
	return true;
}

int eddyi_folder_find(const struct eddyi_folder *folder, struct eddyi_party *party,
		      struct eddy_str path, enum eddy_coding coding, struct eddyi_found *ret_found)
{
	bool keeps = folder->app && !folder->app->options.no_open_files;
	struct table *table = keeps && path.len <= PATH_LEN_MAX ? table_here() : NULL;
	struct eddyi_open_file *file;
	uint64_t before;
	uint64_t hash;
	int r;

	if (!table)
		return open_own(folder->dir, party, path.ptr, 0, ret_found);
	hash = eddyi_siphash(path, table->secret);
	file = find(table, folder->number, path, coding, hash);
	if (file && give(table, file, ret_found))
		return 0;
	/* Time before the opening: the file may be replaced between opening and fstat(). */
	before = eddyi_clock(CLOCK_REALTIME);
	/* Don't keep files found through links: a link's change does not show in the file. */
	r = open_own(folder->dir, party, path.ptr, RESOLVE_NO_SYMLINKS, ret_found);
	if (r == -ELOOP)
		return open_own(folder->dir, party, path.ptr, 0, ret_found);
	if (r == 0 && has_settled(&ret_found->st, before))
		keep(table, folder, path, coding, hash, ret_found);
	return r;
}

/* ---- folders ---- */

struct eddyi_folder *eddyi_folder_new(struct eddy_app *app, int dir)
{
	static atomic_uint count;
	struct eddyi_folder *folder = eddy_app_alloc(app, sizeof(*folder));

	*folder = (struct eddyi_folder){
		.app = app,
		.dir = dir,
		.number = atomic_fetch_add(&count, 1),
		.next_known = app->known_folders,
	};
	app->known_folders = folder;
	return folder;
}

struct eddyi_folder eddyi_folder_of(const struct eddy_app *app, int dir)
{
	const struct eddyi_folder *folder = app->kept_folders;

	while (folder && folder->dir != dir)
		folder = folder->next;
	return folder ? *folder : (struct eddyi_folder){ .dir = dir };
}

void eddy_app_keep_files_open(struct eddy_app *app, int dir)
{
	struct eddyi_folder *folder = eddyi_folder_new(app, dir);
	struct stat st;

	if (eddyi_fstat_now(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		eddy_app_mistake(app, "can't keep files open: the descriptor %d is no folder", dir);
	folder->next = app->kept_folders;
	app->kept_folders = folder;
}
