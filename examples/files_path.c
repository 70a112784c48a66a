/* Paths beneath the folder: how their entries are opened. */
#include "files.h"

#include <eddy/file.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- opening ---- */

/* A path that leads outside, or can't exist, is as one that does not exist. */
static int judge(int r)
{
	switch (r) {
	case -EXDEV:
	case -ELOOP:
	case -ENOTDIR:
	case -ENAMETOOLONG:
	case -ENXIO:
	case -ENODEV:
		return -ENOENT;
	default:
		return r;
	}
}

int files_open(const struct files *files, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)flags,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};

	return judge(eddy_openat2(files->dir, path[0] ? path : ".", &how));
}

/* ---- places ---- */

int files_place_open(const struct files *files, char *path, struct files_place *ret_place)
{
	char *slash = strrchr(path, '/');
	int dir = files->dir;

	if (slash) {
		*slash = '\0';
		dir = files_open(files, path, O_PATH | O_DIRECTORY);
		*slash = '/';
	}
	if (dir < 0)
		return dir;
	*ret_place = (struct files_place){ files, path, slash ? slash + 1 : path, dir };
	return 0;
}

void files_place_close(struct files_place *place)
{
	if (place->files && place->dir != place->files->dir)
		close(place->dir);
	place->files = NULL;
}

int files_place_look(const struct files_place *place, struct files_kind *ret_kind)
{
	struct stat target;
	struct statx st;
	mode_t mode;
	bool is_link;
	int fd, r = judge(
			eddy_statx(place->dir, place->name, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st));

	if (r < 0)
		return r;
	mode = st.stx_mode;
	is_link = S_ISLNK(mode);
	if (is_link) {
		fd = files_open(place->files, place->path, O_PATH);
		if (fd < 0)
			return fd;
		r = fstat(fd, &target) < 0 ? -errno : 0;
		close(fd);
		mode = target.st_mode;
	}
	if (r < 0 || (!S_ISREG(mode) && !S_ISDIR(mode)))
		return r < 0 ? r : -ENOENT;
	*ret_kind = (struct files_kind){ S_ISDIR(mode), is_link };
	return 0;
}
