/* config.h: the configuration file of an app, and reading it into sections. */
#ifndef EDDYI_CONFIG_H
#define EDDYI_CONFIG_H

#include "app/app.h"
#include "config_key.h"

#include <eddy/config.h>

#define EDDYI_CONFIG_FILE_MAX EDDY_MIB

/* Apply the text of the app's configuration file. Never suspends.
 * Return: 0; -EINVAL if it is invalid, after log records; -ENOMEM. */
int eddyi_config_read_text(struct eddy_app *app, struct eddy_str text);

/* [server], [runtime] and [transfer], whose target is the app. */
extern const struct eddy_config_section eddyi_config_server, eddyi_config_runtime,
	eddyi_config_transfer;

/* ---- the sections that an app knows ---- */

/* A registered section. */
struct eddyi_section {
	struct eddyi_section *next;
	const struct eddy_config_section *section;
	void *target;
};

/* A mistake in a file. */
struct eddyi_blame {
	struct eddyi_blame *next;
	unsigned line;
	struct eddy_str text;
};

/* Limit of mistakes of a file that are reported. */
#define EDDYI_BLAMES_MAX 100

struct eddyi_reading {
	const struct eddyi_section *sections;
	struct eddyi_config_keep keep;
	struct eddyi_arena *scratch; /* freed after mistakes are reported */
	struct eddyi_blame *blames;  /* sorted by line */
	unsigned blame_count;        /* including those beyond the limit */
	bool out_of_memory;
};

/* Set the targets of the sections from the tree, and record mistakes in `reading`. */
void eddyi_sections_read(struct eddyi_reading *reading, const struct eddyi_toml *root);

#endif
