#include "programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* EDDYI_LIBEXEC is set by the build: libexec/eddy, relative to this program's folder. */

const struct eddyi_linked *eddyi_programs_linked(const char *name)
{
	for (const struct eddyi_linked *linked = eddyi_linked; linked && linked->name; linked++)
		if (strcmp(linked->name, name) == 0)
			return linked;
	return NULL;
}

static void find_folders(char *folders, size_t size)
{
	const char *said = getenv("EDDY_EXEC_PATH");
	char own[PATH_MAX], beside[PATH_MAX + sizeof(EDDYI_LIBEXEC)], libexec[PATH_MAX];
	bool there;
	ssize_t len;

	if (said) {
		snprintf(folders, size, "%s", said);
		return;
	}
	if (eddyi_linked)
		return;
	len = readlink("/proc/self/exe", own, sizeof(own) - 1);
	if (len < 0) {
		fputs("eddy: can't find where it is installed: /proc is not mounted\n", stderr);
		return;
	}
	own[len] = 0;
	*strrchr(own, '/') = 0;
	snprintf(beside, sizeof(beside), "%s/%s", own, EDDYI_LIBEXEC);
	there = realpath(EDDYI_LIBEXEC[0] == '/' ? EDDYI_LIBEXEC : beside, libexec) != NULL;
	snprintf(folders, size, "%s:%s", own, there ? libexec : beside);
}

const char *eddyi_programs_folders(void)
{
	static char folders[3 * PATH_MAX];
	static bool found;

	if (!found)
		find_folders(folders, sizeof(folders));
	found = true;
	return folders;
}

bool eddyi_programs_next(struct eddy_str *rest, char folder[PATH_MAX])
{
	struct eddy_str piece;

	while (eddy_str_split(rest, ':', &piece))
		if (piece.len > 0 && piece.len < PATH_MAX) {
			snprintf(folder, PATH_MAX, "%.*s", EDDY_FMT(piece));
			return true;
		}
	return false;
}

bool eddyi_programs_find(const char *name, char path[PATH_MAX])
{
	struct eddy_str rest = eddy_str_from(eddyi_programs_folders());
	char folder[PATH_MAX];

	while (eddyi_programs_next(&rest, folder))
		if (snprintf(path, PATH_MAX, "%s/eddy-%s", folder, name) < PATH_MAX &&
		    access(path, X_OK) == 0)
			return true;
	return false;
}
