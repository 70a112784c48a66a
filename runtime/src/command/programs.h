/* programs.h: finds eddy's programs: next to the running one and in libexec/eddy of its prefix; or,
 * if EDDY_EXEC_PATH is set, only in the folders that it lists, separated by colons. */
#ifndef EDDYI_PROGRAMS_H
#define EDDYI_PROGRAMS_H

#include <eddy/str.h>
#include <limits.h>
#include <stdbool.h>

/* Get the folders, separated by colons; empty if unknown. */
const char *eddyi_programs_folders(void);

/* Remove the next folder from the front. Return: false if there is none. */
bool eddyi_programs_next(struct eddy_str *rest, char folder[PATH_MAX]);

/* Find the program eddy-NAME. Return: false if there is none. */
bool eddyi_programs_find(const char *name, char path[PATH_MAX]);

#endif
