/* limits_parts.h: what the files of the program limits share. */
#ifndef LIMITS_PARTS_H
#define LIMITS_PARTS_H

#include "settings.h"

struct limits {
	struct settings common;
	int dir;
	const char *tree; /* NULL for none */
	bool fallback;
	bool compression;
	const char *collector; /* NULL for none */
	struct eddy_tls_options tls;
};

/* POST /parts/{how}: a form, part by part. */
void map_parts(struct eddy_app *app);

/* WebSockets below /ws, and event streams at /ticks/{n} and /feed. */
void map_live(struct eddy_app *app);
void free_live(void);

#endif
