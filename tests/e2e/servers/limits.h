/* limits.h: what the files of the program limits share. */
#ifndef LIMITS_H
#define LIMITS_H

#include <eddy/http.h>

struct limits {
	const char *bind;
	int dir;
	const char *tree; /* NULL for none, as is: */
	const char *config;
	bool fallback;
	bool compression;
	const char *collector;
};

/* POST /parts/{how}: a form, part by part. */
void map_parts(struct eddy_app *app);

#endif
