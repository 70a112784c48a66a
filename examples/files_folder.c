/* Folders: their entries, making and removing them. */
#include "files.h"

#include <eddy/file.h>
#include <eddy/offload.h>
#include <eddy/task.h>
#include <eddy/upload.h>
#include <errno.h>

#include <stdlib.h>
#include <unistd.h>

/* ---- entries ---- */

/* A job for the offload pool. */
struct reading {
	int dir;
	bool checks;
	struct files_entries *found;
};

/* Return: whether it is one to keep. */
static bool describe(const struct reading *reading, struct files_entry *entry)
{
	const char *name = entry->dirent->d_name;
	struct stat st;

	if (!eddy_path_is_public(eddy_str_from(name)) ||
	    fstatat(reading->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	entry->size = (uint64_t)st.st_size;
	entry->mtime = st.st_mtim.tv_sec;
	entry->mode = st.st_mode;
	entry->is_link = S_ISLNK(st.st_mode);
	entry->is_unreadable = reading->checks && S_ISREG(st.st_mode) &&
			       faccessat(reading->dir, name, R_OK, AT_EACCESS) < 0;
	return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || entry->is_link;
}

static int read_all(void *arg)
{
	struct reading *reading = arg;
	struct files_entries *found = reading->found;
	struct dirent **dirents;
	int count = scandirat(reading->dir, ".", &dirents, NULL, alphasort), r = 0;

	if (count < 0)
		return -errno;
	found->entries = calloc((size_t)count + 1, sizeof(*found->entries));
	if (!found->entries)
		r = -ENOMEM;
	for (int i = 0; i < count; i++) {
		struct files_entry entry = { .dirent = dirents[i] };

		if (r == 0 && describe(reading, &entry))
			found->entries[found->count++] = entry;
		else
			free(dirents[i]);
	}
	free(dirents);
	return r;
}

/* Describe a link by its target. Suspends.
 * Return: 0; -ENOENT if that is not inside, or neither a file nor a folder; -errno. */
static int follow(const struct files *files, const char *path, struct files_entry *entry)
{
	struct stat st;
	char *whole;
	int fd, r;

	if (asprintf(&whole, "%s%s%s", path, path[0] ? "/" : "", entry->dirent->d_name) < 0)
		return -ENOMEM;
	fd = files_open(files, whole, O_PATH);
	free(whole);
	if (fd < 0)
		return fd == -EACCES ? -ENOENT : fd;
	r = fstat(fd, &st) < 0 ? -errno : 0;
	close(fd);
	if (r < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return r < 0 ? r : -ENOENT;
	entry->size = (uint64_t)st.st_size;
	entry->mtime = st.st_mtim.tv_sec;
	entry->mode = st.st_mode;
	return 0;
}

/* Follow the links, and remove those that are not to be listed. Suspends. */
static int follow_all(const struct files *files, const char *path, struct files_entries *found)
{
	size_t count = found->count;
	int error = 0;

	found->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct files_entry entry = found->entries[i];
		int r = error;

		/* Other tasks run as well. */
		if (entry.is_link && r == 0 && i % 64 == 0)
			r = eddy_yield();
		if (entry.is_link && r == 0)
			r = follow(files, path, &entry);
		if (r == 0)
			found->entries[found->count++] = entry;
		else
			free(entry.dirent);
		if (r != -ENOENT)
			error = r;
	}
	return error;
}

int files_read(const struct files *files, const char *path, bool checks,
	       struct files_entries *ret_entries)
{
	int dir = files_open(files, path, O_RDONLY | O_DIRECTORY), r;
	struct reading reading = { dir, checks, ret_entries };

	*ret_entries = (struct files_entries){ 0 };
	if (dir < 0)
		return dir;
	r = eddy_offload(read_all, &reading);
	close(dir);
	return r < 0 ? r : follow_all(files, path, ret_entries);
}

void files_entries_free(struct files_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		free(entries->entries[i].dirent);
	free(entries->entries);
	*entries = (struct files_entries){ 0 };
}

/* ---- routes ---- */

int files_to_folder(struct eddy_req *req, struct eddy_res *res, struct eddy_str path)
{
	struct eddy_str target = eddy_req_target_path(req), query = eddy_req_query(req);
	const char *slash = memrchr(target.ptr, '/', target.len);
	char *copy = eddy_req_strdup(req, path), *location;
	size_t size = target.len + query.len + sizeof(".//?");
	int fd = copy ? files_open(eddy_req_context(req), copy, O_PATH | O_DIRECTORY) : -ENOMEM;

	if (fd < 0)
		return fd;
	close(fd);
	location = eddy_req_alloc(req, size);
	if (!location)
		return -ENOMEM;
	target = eddy_str_skip(target, (size_t)(slash + 1 - target.ptr));
	/* Relative, for any prefix of a proxy. */
	snprintf(location, size, "./%.*s/%s%.*s", EDDY_FMT(target), query.ptr ? "?" : "",
		 EDDY_FMT(query));
	return eddy_res_redirect(res, 301, eddy_str_from(location));
}

int files_folder_make(struct eddy_req *req, struct eddy_res *res, struct eddy_str path)
{
	EDDY_AUTO(files_place_close) struct files_place place = { 0 };
	char *copy = eddy_req_strdup(req, path);
	struct files_kind kind;
	int r = copy ? 0 : -ENOMEM;

	if (r == 0 && !path.len)
		return eddy_res_json(res, json_pack("{s:s}", "name", ""));
	if (r == 0)
		r = files_place_open(eddy_req_context(req), copy, &place);
	if (r == 0)
		r = eddy_mkdirat(place.dir, place.name, 0777);
	if (r == -ENAMETOOLONG)
		return eddy_res_problem(res, 400, "the name is too long");
	if (r == -EEXIST && (files_place_look(&place, &kind) < 0 || !kind.is_folder))
		return eddy_res_problem(res, 409, "there is a file of this name");
	if (r < 0 && r != -EEXIST)
		return files_refused(res, r);
	eddy_res_status(res, r == 0 ? 201 : 200);
	return eddy_res_json(res, json_pack("{s:s}", "name", place.name));
}

static int clean(void *arg)
{
	return eddy_upload_clean(*(const int *)arg);
}

/* Remove a folder in which there may be hidden files that a killed server has left. Suspends. */
static int remove_folder(const struct files_place *place)
{
	int r = eddy_unlinkat(place->dir, place->name, AT_REMOVEDIR), fd;

	if (r != -ENOTEMPTY && r != -EEXIST)
		return r;
	fd = eddy_openat(place->dir, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd < 0)
		return fd;
	r = eddy_offload(clean, &fd);
	close(fd);
	return r < 0 ? r : eddy_unlinkat(place->dir, place->name, AT_REMOVEDIR);
}

int files_folder_remove(struct eddy_req *req, struct eddy_res *res, struct eddy_str path)
{
	EDDY_AUTO(files_place_close) struct files_place place = { 0 };
	char *copy = eddy_req_strdup(req, path);
	struct files_kind kind;
	int r = copy ? 0 : -ENOMEM;

	if (r == 0 && !path.len)
		return eddy_res_problem(res, 403, "the folder that is served can't be removed");
	if (r == 0)
		r = files_place_open(eddy_req_context(req), copy, &place);
	if (r == 0)
		r = files_place_look(&place, &kind);
	if (r == 0 && !kind.is_folder)
		r = -ENOENT;
	/* Of a link, its target stays. */
	if (r == 0)
		r = kind.is_link ? eddy_unlinkat(place.dir, place.name, 0) : remove_folder(&place);
	if (r == -ENOTEMPTY || r == -EEXIST)
		return eddy_res_problem(res, 409, "the folder is not empty");
	return r < 0 ? files_refused(res, r) : 204;
}
