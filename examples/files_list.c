#include "files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static json_t *describe(int dir, const char *name)
{
	char date[32];
	struct stat st;
	struct tm tm;

	if (!files_name_is_public(eddy_str_from(name)) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	if (!gmtime_r(&st.st_mtim.tv_sec, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	/* NULL also for a name that is not UTF-8: JSON can't say it. */
	return json_pack("{s:s, s:I, s:s}", "name", name, "size", (json_int_t)st.st_size, "mtime",
			 date);
}

json_t *files_list(int dir)
{
	struct dirent **entries;
	json_t *files = json_array();
	int count = scandirat(dir, ".", &entries, NULL, alphasort);

	if (count < 0) {
		json_decref(files);
		return NULL;
	}
	for (int i = 0; i < count; i++) {
		json_t *file = describe(dir, entries[i]->d_name);

		if (file)
			json_array_append_new(files, file);
		free(entries[i]);
	}
	free(entries);
	return files;
}
