/* folder.h: a folder of a test's own. */
#ifndef EDDY_TESTS_FOLDER_H
#define EDDY_TESTS_FOLDER_H

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[32]; /* its path */

static inline void make_folder_in(const char *parent)
{
	snprintf(folder, sizeof(folder), "%s/eddy-test-XXXXXX", parent);
	cr_assert(mkdtemp(folder) != NULL);
}

/* For .init of a test or a suite. */
static inline void make_folder(void)
{
	make_folder_in("/tmp");
}

static inline int remove_entry(const char *path, __attribute__((unused)) const struct stat *st,
			       __attribute__((unused)) int type,
			       __attribute__((unused)) struct FTW *at)
{
	return remove(path);
}

/* With all that is in it. For .fini. */
static inline void remove_folder(void)
{
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The test has to have removed what was in it. */
static inline void remove_empty_folder(void)
{
	cr_expect(rmdir(folder) == 0, "something was left");
}

#endif
