/* GET /files/{path}/?zip: a folder as a zip archive (APPNOTE.TXT 6.3), made while it is sent. With
 * ?zip&name=A&name=B, the archive has only these entries of the folder.
 *
 * First the folder is walked; that gives the names and sizes, and so the archive's length. Then
 * files are stored without compression: their bytes go from the page cache to the socket. The
 * CRC-32 of a file follows its bytes in a data descriptor, and is computed piece by piece, just
 * before each piece is sent, so that a disk is read once.
 *
 * Invariants of a struct zip:
 * 1. `entries` are files, and folders without public entries, whose names end with a slash. Within
 *    the walk they also are folders whose entries are to be read, or have been.
 * 2. All archives hold less than MEMORY_MAX bytes of names and entries; `charged` are this one's.
 * 3. Names are shorter than PATH_MAX, together with `path`.
 * 4. Without `res`, which is so for a first pass, nothing is sent: `at` becomes the length.
 */
#include "files.h"

#include <eddy/offload.h>
#include <eddy/task.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define MEMORY_MAX ((size_t)(64 * EDDY_MIB))
/* Read at a time for a CRC-32, then sent. */
#define PIECE_MAX ((uint64_t)EDDY_MIB)
#define READ_MAX ((size_t)(64 * EDDY_KIB))
/* The archive's own bytes that are sent together. */
#define OUT_SIZE ((size_t)(16 * EDDY_KIB))

/* In fields of 32 and 16 bits: the value is in a zip64 field. */
#define LARGE 0xffffffffu
#define MANY 0xffffu

#define FLAG_DESCRIPTOR 0x0008u
#define FLAG_UTF8 0x0800u
#define MADE_ON_UNIX (3u << 8)
#define VERSION_FOLDERS 20u
#define VERSION_ZIP64 45u

struct entry {
	size_t name; /* in `names` */
	uint64_t size;
	uint64_t offset; /* of its header in the archive */
	time_t mtime;
	mode_t mode;
	uint32_t crc;
	bool is_parent; /* of other entries; removed after the walk */
};

struct zip {
	const struct files *files;
	struct eddy_str path; /* of the folder */
	const struct eddy_pairs *query;
	bool *found; /* for each pair of the query: whether an entry has this name */
	struct entry *entries;
	size_t count, entries_size; /* size: in bytes */
	char *names;
	size_t names_len, names_size;
	size_t charged;
	struct eddy_res *res;
	uint64_t at; /* in the archive */
	size_t out_len;
	char out[OUT_SIZE];
};

/* ---- the selection ---- */

static bool is_selector(struct eddy_pair pair)
{
	return eddy_str_eq_z(pair.name, "name");
}

/* Whether an entry of the folder is wanted in the archive. */
static bool select_entry(struct zip *zip, const char *name)
{
	bool is_wanted = false, is_selective = false;

	for (size_t i = 0; i < zip->query->count; i++) {
		if (!is_selector(zip->query->list[i]))
			continue;
		is_selective = true;
		if (eddy_str_eq_z(zip->query->list[i].value, name))
			is_wanted = zip->found[i] = true;
	}
	return is_wanted || !is_selective;
}

static bool has_found_all(const struct zip *zip)
{
	for (size_t i = 0; i < zip->query->count; i++)
		if (is_selector(zip->query->list[i]) && !zip->found[i])
			return false;
	return true;
}

/* ---- entries ---- */

static const char *name_of(const struct zip *zip, const struct entry *entry)
{
	return zip->names + entry->name;
}

/* Write the path beneath the top folder. */
static void path_of(const struct zip *zip, const struct entry *entry, char path[PATH_MAX])
{
	int len = snprintf(path, PATH_MAX, "%.*s%s%s", EDDY_FMT(zip->path),
			   zip->path.len ? "/" : "", name_of(zip, entry));

	while (len && path[len - 1] == '/')
		path[--len] = '\0';
}

static bool is_large(uint64_t value)
{
	return value >= LARGE;
}

static uint32_t capped(uint64_t value)
{
	return is_large(value) ? LARGE : (uint32_t)value;
}

/* ---- the archive's own bytes ---- */

/* Suspends. */
static int flush(struct zip *zip)
{
	size_t len = zip->out_len;

	zip->out_len = 0;
	return len ? eddy_res_write(zip->res, zip->out, len) : 0;
}

/* A record that is being made: a header, a descriptor or an end. */
struct record {
	unsigned char bytes[3 * PATH_MAX + 128];
	size_t len;
};

static void put(struct record *record, size_t size, uint64_t value)
{
	for (; size; size--, value >>= 8)
		record->bytes[record->len++] = (unsigned char)value;
}

static void put16(struct record *record, uint32_t value)
{
	put(record, 2, value);
}

static void put32(struct record *record, uint32_t value)
{
	put(record, 4, value);
}

/* To Windows a backslash separates folders: it is written as in a URL. */
static void put_name(struct record *record, const char *name)
{
	for (; *name; name++) {
		if (*name == '\\') {
			memcpy(record->bytes + record->len, "%5C", 3);
			record->len += 3;
		} else {
			put(record, 1, (unsigned char)*name);
		}
	}
}

/* Get the length of a name as it is written. */
static uint32_t name_len(const char *name)
{
	size_t len = strlen(name);

	for (const char *at = name; (at = strchr(at, '\\')); at++)
		len += 2;
	return (uint32_t)len;
}

/* Add a record to the archive. Suspends. */
static int add_record(struct zip *zip, const struct record *record)
{
	int r = 0;

	zip->at += record->len;
	if (!zip->res)
		return 0;
	if (record->len > OUT_SIZE - zip->out_len)
		r = flush(zip);
	memcpy(zip->out + zip->out_len, record->bytes, record->len);
	zip->out_len += record->len;
	return r;
}

/* The time in MS-DOS's format; it has no zone, and here it is UTC. */
static void put_dos_time(struct record *record, time_t time)
{
	static const struct tm first = { .tm_year = 80, .tm_mday = 1 };
	struct tm tm;

	if (!gmtime_r(&time, &tm) || tm.tm_year < 80 || tm.tm_year > 80 + 127)
		tm = first;
	put16(record, (uint32_t)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec / 2));
	put16(record, (uint32_t)((tm.tm_year - 80) << 9 | (tm.tm_mon + 1) << 5 | tm.tm_mday));
}

/* The extra field with the time in seconds since 1970. */
#define UNIX_TIME_SIZE 9u

static void put_unix_time(struct record *record, time_t time)
{
	put16(record, 0x5455);
	put16(record, UNIX_TIME_SIZE - 4);
	put(record, 1, 1); /* the time of the last change alone */
	put32(record, (uint32_t)(time < INT32_MIN ? INT32_MIN :
				 time > INT32_MAX ? INT32_MAX :
						    time));
}

/* The fields that both headers of an entry have. */
static void put_common(struct record *record, const struct entry *entry, bool is_zip64,
		       uint32_t crc, uint32_t size, const char *name, size_t extra)
{
	put16(record, is_zip64 ? VERSION_ZIP64 : VERSION_FOLDERS);
	put16(record, FLAG_UTF8 | (entry->size ? FLAG_DESCRIPTOR : 0));
	put16(record, 0); /* stored */
	put_dos_time(record, entry->mtime);
	put32(record, crc);
	put32(record, size); /* compressed */
	put32(record, size);
	put16(record, name_len(name));
	put16(record, (uint32_t)extra);
}

/* CRC and sizes are in the descriptor. */
static int add_header(struct zip *zip, struct entry *entry)
{
	const char *name = name_of(zip, entry);
	bool is_zip64 = is_large(entry->size);
	struct record record = { .len = 0 };

	entry->offset = zip->at;
	put32(&record, 0x04034b50);
	put_common(&record, entry, is_zip64, 0, is_zip64 ? LARGE : 0, name,
		   UNIX_TIME_SIZE + (is_zip64 ? 20 : 0));
	put_name(&record, name);
	put_unix_time(&record, entry->mtime);
	if (is_zip64) {
		put16(&record, 1);
		put16(&record, 16);
		put(&record, 16, 0);
	}
	return add_record(zip, &record);
}

static int add_descriptor(struct zip *zip, const struct entry *entry)
{
	size_t size = is_large(entry->size) ? 8 : 4;
	struct record record = { .len = 0 };

	put32(&record, 0x08074b50);
	put32(&record, entry->crc);
	put(&record, size, entry->size);
	put(&record, size, entry->size);
	return add_record(zip, &record);
}

/* Add the entry of the central directory. */
static int add_central(struct zip *zip, const struct entry *entry)
{
	const char *name = name_of(zip, entry);
	uint32_t zip64 = (is_large(entry->size) ? 16 : 0) + (is_large(entry->offset) ? 8 : 0);
	struct record record = { .len = 0 };

	put32(&record, 0x02014b50);
	put16(&record, MADE_ON_UNIX | VERSION_ZIP64);
	put_common(&record, entry, zip64, entry->crc, capped(entry->size), name,
		   UNIX_TIME_SIZE + (zip64 ? 4 + zip64 : 0));
	put16(&record, 0); /* comment */
	put16(&record, 0); /* disk */
	put16(&record, 0); /* internal attributes */
	put32(&record, (uint32_t)entry->mode << 16 | (S_ISDIR(entry->mode) ? 0x10 : 0));
	put32(&record, capped(entry->offset));
	put_name(&record, name);
	put_unix_time(&record, entry->mtime);
	if (zip64) {
		put16(&record, 1);
		put16(&record, zip64);
	}
	if (is_large(entry->size)) {
		put(&record, 8, entry->size);
		put(&record, 8, entry->size);
	}
	if (is_large(entry->offset))
		put(&record, 8, entry->offset);
	return add_record(zip, &record);
}

/* Add the end of the archive, whose central directory begins at `from`. */
static int add_end(struct zip *zip, uint64_t from)
{
	uint64_t size = zip->at - from, end = zip->at;
	struct record record = { .len = 0 };

	if (zip->count >= MANY || is_large(size) || is_large(from)) {
		put32(&record, 0x06064b50);
		put(&record, 8, 44); /* bytes that follow */
		put16(&record, MADE_ON_UNIX | VERSION_ZIP64);
		put16(&record, VERSION_ZIP64);
		put(&record, 8, 0); /* disks */
		put(&record, 8, zip->count);
		put(&record, 8, zip->count);
		put(&record, 8, size);
		put(&record, 8, from);
		put32(&record, 0x07064b50);
		put32(&record, 0); /* disk */
		put(&record, 8, end);
		put32(&record, 1); /* disks */
	}
	put32(&record, 0x06054b50);
	put32(&record, 0); /* disks */
	put16(&record, zip->count < MANY ? (uint32_t)zip->count : MANY);
	put16(&record, zip->count < MANY ? (uint32_t)zip->count : MANY);
	put32(&record, capped(size));
	put32(&record, capped(from));
	put16(&record, 0); /* comment */
	return add_record(zip, &record);
}

/* ---- the contents of files ---- */

/* A job: add a piece of a file to its CRC. */
struct piece {
	int fd;
	uint64_t at;
	uint64_t len;
	uint32_t crc;
};

/* If the file is too short, that shows when it is sent. */
static int read_piece(void *arg)
{
	struct piece *piece = arg;
	unsigned char *buf = malloc(READ_MAX);
	uint64_t done = 0;
	ssize_t n = buf ? 1 : -1;

	while (n > 0 && done < piece->len) {
		uint64_t left = piece->len - done;

		n = pread(piece->fd, buf, left < READ_MAX ? (size_t)left : READ_MAX,
			  (off_t)(piece->at + done));
		if (n > 0) {
			piece->crc = (uint32_t)crc32(piece->crc, buf, (uInt)n);
			done += (uint64_t)n;
		}
	}
	free(buf);
	return n < 0 ? -errno : 0;
}

/* Suspends. */
static int send_pieces(struct zip *zip, struct entry *entry, int fd)
{
	struct piece piece = { .fd = fd };
	int r = 0;

	for (; r == 0 && piece.at < entry->size; piece.at += piece.len) {
		piece.len = entry->size - piece.at;
		if (piece.len > PIECE_MAX)
			piece.len = PIECE_MAX;
		r = eddy_offload(read_piece, &piece);
		if (r == 0)
			r = eddy_res_write_file(zip->res, fd, piece.at, piece.len);
	}
	entry->crc = piece.crc;
	return r;
}

/* Open what was a regular file in the walk. Suspends. Return: a descriptor, -errno. */
static int open_file(const struct zip *zip, const struct entry *entry)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	path_of(zip, entry, path);
	/* O_NONBLOCK is for a FIFO. */
	fd = files_open(zip->files, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && fcntl(fd, F_SETFL, 0) == 0)
		return fd;
	close(fd);
	return -ENOENT;
}

/* Suspends. */
static int add_contents(struct zip *zip, struct entry *entry)
{
	int fd, r;

	if (!entry->size)
		return 0;
	zip->at += entry->size;
	if (!zip->res)
		return add_descriptor(zip, entry);
	r = flush(zip);
	fd = r < 0 ? r : open_file(zip, entry);
	if (fd < 0)
		return fd;
	r = send_pieces(zip, entry, fd);
	close(fd);
	return r < 0 ? r : add_descriptor(zip, entry);
}

/* Suspends if there is a response. */
static int write_all(struct zip *zip)
{
	uint64_t from;
	int r = 0;

	zip->at = 0;
	for (size_t i = 0; r == 0 && i < zip->count; i++) {
		r = add_header(zip, &zip->entries[i]);
		if (r == 0)
			r = add_contents(zip, &zip->entries[i]);
	}
	from = zip->at;
	for (size_t i = 0; r == 0 && i < zip->count; i++)
		r = add_central(zip, &zip->entries[i]);
	if (r == 0)
		r = add_end(zip, from);
	return r == 0 && zip->res ? flush(zip) : r;
}

/* ---- the walk ---- */

static atomic_size_t memory; /* of all archives */

/* Make room for `more` bytes behind `used` ones. Return: 0; -EBUSY beyond MEMORY_MAX; -ENOMEM. */
static int make_room(struct zip *zip, void **array, size_t *size, size_t used, size_t more)
{
	size_t wanted = used + more > 2 * *size ? used + more : 2 * *size, step = wanted - *size;
	void *grown;

	if (used + more <= *size)
		return 0;
	if (atomic_fetch_add(&memory, step) + step > MEMORY_MAX) {
		atomic_fetch_sub(&memory, step);
		return -EBUSY;
	}
	zip->charged += step;
	grown = realloc(*array, wanted);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*size = wanted;
	return 0;
}

/* Add an entry of the folder that is the entry `parent`, or the top folder itself. */
static int add(struct zip *zip, size_t parent, const struct files_entry *found)
{
	const char *name = found->dirent ? found->dirent->d_name : "";
	size_t before = zip->count ? strlen(name_of(zip, &zip->entries[parent])) : 0;
	size_t len = before + strlen(name) + sizeof("/");
	void *entries = zip->entries, *names = zip->names;
	struct entry *entry;
	char *end;
	int r;

	/* A file that is too deep can't be opened by its path. */
	if (zip->path.len + len >= PATH_MAX)
		return -ENAMETOOLONG;
	r = make_room(zip, &names, &zip->names_size, zip->names_len, len);
	zip->names = names;
	if (r == 0)
		r = make_room(zip, &entries, &zip->entries_size, zip->count * sizeof(*entry),
			      sizeof(*entry));
	zip->entries = entries;
	if (r < 0)
		return r;
	entry = &zip->entries[zip->count++];
	*entry = (struct entry){
		.name = zip->names_len,
		.size = S_ISDIR(found->mode) ? 0 : found->size,
		.mtime = found->mtime,
		.mode = found->mode,
	};
	end = mempcpy(zip->names + zip->names_len, name_of(zip, &zip->entries[parent]), before);
	end = stpcpy(end, name);
	strcpy(end, name[0] && S_ISDIR(found->mode) ? "/" : "");
	zip->names_len += len;
	return 0;
}

/* Add the entries of a folder. Suspends. */
static int add_folder(struct zip *zip, size_t at)
{
	struct files_entries found;
	char path[PATH_MAX];
	int r;

	path_of(zip, &zip->entries[at], path);
	r = files_read(zip->files, path, true, &found);
	for (size_t i = 0; r == 0 && i < found.count; i++) {
		if (i % 1024 == 1023)
			r = eddy_yield();
		if (at == 0 && !select_entry(zip, found.entries[i].dirent->d_name))
			continue;
		/* Through links, folders might contain each other. */
		if (found.entries[i].is_link && S_ISDIR(found.entries[i].mode))
			continue;
		zip->entries[at].is_parent = true;
		/* Better no archive than one that lacks a file. */
		if (r == 0)
			r = found.entries[i].is_unreadable ? -EACCES :
							     add(zip, at, &found.entries[i]);
	}
	files_entries_free(&found);
	return r;
}

static int compare(const void *one, const void *other, void *arg)
{
	return strcmp(name_of(arg, one), name_of(arg, other));
}

/* A job: remove what is not to be in the archive, sort the rest, and get the length. */
static int arrange(void *arg)
{
	struct zip *zip = arg;
	size_t kept = 0;

	for (size_t i = 0; i < zip->count; i++)
		if (!zip->entries[i].is_parent)
			zip->entries[kept++] = zip->entries[i];
	zip->count = kept;
	qsort_r(zip->entries, kept, sizeof(*zip->entries), compare, zip);
	return write_all(zip);
}

/* Read one folder after the other, so that other requests get their turn. Suspends. */
static int walk(struct zip *zip)
{
	int r = add(zip, 0, &(struct files_entry){ .mode = S_IFDIR });

	if (r == 0)
		zip->entries[0].is_parent = true;
	for (size_t i = 0; r == 0 && i < zip->count; i++) {
		if (S_ISDIR(zip->entries[i].mode))
			r = add_folder(zip, i);
		/* A folder that has been removed meanwhile. */
		if (r == -ENOENT && i)
			r = 0;
	}
	if (r == 0 && !has_found_all(zip))
		r = -ENOENT;
	return r < 0 ? r : eddy_offload(arrange, zip);
}

/* ---- the response ---- */

/* Name the archive after its folder. Return: 0, -ENOMEM. */
static int set_name(struct eddy_res *res, struct eddy_str path)
{
	const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
	char *text = NULL, *name = NULL;
	size_t size;
	FILE *out;
	int r = -ENOMEM;

	if (slash)
		path = eddy_str_skip(path, (size_t)(slash + 1 - path.ptr));
	if (!path.len)
		path = EDDY_STR("files");
	out = open_memstream(&text, &size);
	if (!out || asprintf(&name, "%.*s.zip", EDDY_FMT(path)) < 0)
		name = NULL;
	if (out && name) {
		fputs("attachment; filename=\"", out);
		for (const char *at = name; *at; at++)
			fputc(*at < ' ' || *at > '~' || strchr("\"\\", *at) ? '_' : *at, out);
		fputs("\"; filename*=UTF-8''", out);
		files_write_url(out, name);
	}
	if (out && fclose(out) == 0 && name)
		r = eddy_res_set_z(res, "content-disposition", text);
	free(name);
	free(text);
	return r;
}

static int send_zip(struct zip *zip, struct eddy_res *res)
{
	int r = walk(zip);

	if (r == -EBUSY)
		return eddy_res_problem(res, 503,
					"the folder has too many files, or too many folders are "
					"being sent as archives; try again later");
	if (r == -ENAMETOOLONG)
		return eddy_res_problem(res, 409, "the folder has files that are too deep in it");
	if (r == -EACCES)
		return eddy_res_problem(res, 403, "the server can't read all files of the folder");
	if (r == 0)
		r = set_name(res, zip->path);
	if (r == 0)
		r = eddy_res_set_z(res, "content-type", "application/zip");
	if (r == 0)
		r = eddy_res_set_z(res, "cache-control", "no-cache");
	if (r == 0)
		r = eddy_res_set_z(res, "accept-ranges", "none");
	if (r == 0)
		r = eddy_res_announce(res, zip->at);
	zip->res = res;
	return r < 0 ? r : write_all(zip);
}

int files_zip(struct eddy_req *req, struct eddy_res *res, struct eddy_str path)
{
	struct eddy_pairs query = { 0 };
	int r = eddy_req_query_pairs(req, &query);
	struct zip *zip = calloc(1, sizeof(*zip));
	bool *found = calloc(query.count + 1, sizeof(*found));

	if (r < 0 || !zip || !found) {
		free(zip);
		free(found);
		return r < 0 ? r : -ENOMEM;
	}
	zip->query = &query;
	zip->found = found;
	zip->files = eddy_req_context(req);
	zip->path = path;
	r = send_zip(zip, res);
	atomic_fetch_sub(&memory, zip->charged);
	free(zip->entries);
	free(zip->names);
	free(zip->found);
	free(zip);
	return r;
}
