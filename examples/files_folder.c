/* Folders: their entries, making and removing them. */
#include "files.h"

#include <eddy/file.h>
#include <errno.h>

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- entries ---- */

/* Get the status of a link's target. Return: whether it is inside. */
static bool follow(const struct files *files, const char *path, struct files_entry *entry)
{
	char whole[PATH_MAX];
	bool fits = (size_t)snprintf(whole, sizeof(whole), "%s%s%s", path, path[0] ? "/" : "",
				     entry->name) < sizeof(whole);
	int fd = fits ? files_open_now(files, whole, O_PATH) : -ENAMETOOLONG;
	bool found = fd >= 0 && fstat(fd, &entry->st) == 0;

	if (fd >= 0)
		close(fd);
	return found;
}

static int tell(const struct files *files, const char *path, struct files_entry *entry,
		files_entry_fn *fn, void *arg)
{
	if (!files_path_is_public(eddy_str_from(entry->name)) ||
	    fstatat(entry->dir, entry->name, &entry->st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	entry->is_link = S_ISLNK(entry->st.st_mode);
	if (entry->is_link && !follow(files, path, entry))
		return 0;
	if (!S_ISREG(entry->st.st_mode) && !S_ISDIR(entry->st.st_mode))
		return 0;
	return fn(arg, entry);
}

int files_each(const struct files *files, const char *path, files_entry_fn *fn, void *arg)
{
	int dir = files_open_now(files, path, O_RDONLY | O_DIRECTORY), count, r = 0;
	struct dirent **found;

	if (dir < 0)
		return dir;
	count = scandirat(dir, ".", &found, NULL, alphasort);
	if (count < 0)
		r = -errno;
	for (int i = 0; i < count; i++) {
		struct files_entry entry = { .dir = dir, .name = found[i]->d_name };

		if (r == 0)
			r = tell(files, path, &entry, fn, arg);
		free(found[i]);
	}
	if (count >= 0)
		free(found);
	close(dir);
	return r;
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
		r = eddy_unlinkat(place.dir, place.name, kind.is_link ? 0 : AT_REMOVEDIR);
	if (r == -ENOTEMPTY || r == -EEXIST)
		return eddy_res_problem(res, 409, "the folder is not empty");
	return r < 0 ? files_refused(res, r) : 204;
}
