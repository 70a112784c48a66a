/* Paths beneath the folder: which are public, and how their entries are opened. */
#include "files.h"

#include <eddy/file.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- public names ---- */

/* Return: bytes of a character that is not ASCII; 0 if it is not UTF-8 (RFC 3629). */
static size_t utf8_len(const unsigned char *at, size_t left)
{
	size_t len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	uint32_t code = at[0] & (0x7fu >> len);

	if (at[0] < 0xc2 || at[0] > 0xf4 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (len == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000)))
		return 0;
	return len == 4 && (code < 0x10000 || code > 0x10ffff) ? 0 : len;
}

bool files_path_is_public(struct eddy_str path)
{
	const unsigned char *at = (const void *)path.ptr, *end = at + path.len;
	bool is_first = true; /* of a name */

	while (at < end) {
		size_t len = *at < 0x80 ? 1 : utf8_len(at, (size_t)(end - at));

		if (!len || *at < ' ' || *at == 0x7f || (is_first && (*at == '.' || *at == '/')))
			return false;
		is_first = *at == '/';
		at += len;
	}
	return !is_first || !path.len;
}

int files_path_of(const struct eddy_req *req, struct eddy_str *ret_path, bool *ret_slash)
{
	int r = eddy_req_path_beneath(req, ret_path, ret_slash);

	return r < 0 || files_path_is_public(*ret_path) ? r : -ENOENT;
}

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
