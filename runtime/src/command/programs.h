/* programs.h: finds eddy's programs: those that are linked into the running one, as in the static
 * `eddy`; otherwise next to it and in libexec/eddy of its prefix. If EDDY_EXEC_PATH is set, files are
 * searched for only in the folders that it lists, separated by colons. */
#ifndef EDDYI_PROGRAMS_H
#define EDDYI_PROGRAMS_H

#include <eddy/str.h>
#include <limits.h>
#include <stdbool.h>

/* A program eddy-NAME that is linked into the running one. */
struct eddyi_linked {
	const char *name;
	int (*main)(int argc, char **argv);
};

/* Programs of the static `eddy`, the last without a name. NULL in others, which execute files. */
extern const struct eddyi_linked eddyi_linked[] __attribute__((weak));

/* Find a linked program. Return: NULL if there is none. */
const struct eddyi_linked *eddyi_programs_linked(const char *name);

/* Get the folders, separated by colons; empty if unknown. */
const char *eddyi_programs_folders(void);

/* Remove the next folder from the front. Return: false if there is none. */
bool eddyi_programs_next(struct eddy_str *rest, char folder[PATH_MAX]);

/* Find the file of the program eddy-NAME. Return: false if there is none. */
bool eddyi_programs_find(const char *name, char path[PATH_MAX]);

#endif
