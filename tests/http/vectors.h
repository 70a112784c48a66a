/* vectors.h: recorded inputs that others keep, in the folder that EDDY_VECTORS names. */
#ifndef EDDY_TESTS_VECTORS_H
#define EDDY_TESTS_VECTORS_H

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* Load one of the JSON files; the test is skipped where it is not to be had.
 * Return: a new reference. */
static inline json_t *vectors_load(const char *name)
{
	const char *dir = getenv("EDDY_VECTORS");
	char path[4096];
	json_t *root;

	if (!dir)
		cr_skip_test("EDDY_VECTORS is not set");
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	root = json_load_file(path, JSON_ALLOW_NUL, NULL);
	if (!root)
		cr_skip_test("%s is not there", path);
	return root;
}

#endif
