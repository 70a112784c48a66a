/* programs.h: where eddy's programs are: beside the one that runs and in libexec/eddy of its prefix; or, where
 * EDDY_EXEC_PATH is set, in the folders that it lists, separated by colons, and nowhere else. */
#ifndef EDDYI_PROGRAMS_H
#define EDDYI_PROGRAMS_H

#include <eddy/str.h>
#include <limits.h>
#include <stdbool.h>

/* The folders, separated by colons; empty when they are not known. */
const char *eddyi_programs_folders(void);

/* Take the next folder off the front. Return: false when there is none. */
bool eddyi_programs_next(struct eddy_str *rest, char folder[PATH_MAX]);

/* Where the program eddy-NAME is. Return: whether it is anywhere. */
bool eddyi_programs_find(const char *name, char path[PATH_MAX]);

#endif
