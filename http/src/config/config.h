/* config.h: the configuration file of an app: its sections, and their keys. */
#ifndef EDDYI_CONFIG_H
#define EDDYI_CONFIG_H

#include "app/app.h"
#include "text/arena.h"
#include "toml.h"

#include <eddy/config.h>

#define EDDYI_CONFIG_FILE_MAX EDDY_MIB

/* Apply the text of the app's configuration file. Never suspends.
 * Return: 0; -EINVAL if it is invalid, after log records; -ENOMEM. */
int eddyi_config_read_text(struct eddy_app *app, struct eddy_str text);

/* [server], [runtime] and [transfer], whose target is the app. */
extern const struct eddy_config_section eddyi_config_server, eddyi_config_runtime,
	eddyi_config_transfer;

/* ---- the keys of a section ---- */

#define EDDYI_EXPECTED_SIZE 256

/* Whether the member has the size of the key's type. */
bool eddyi_config_key_fits(const struct eddy_config_key *key);

/* Describe the valid values of a key in `target`: "an integer from 1 to 10". Return: `buf`. */
const char *eddyi_config_key_expected(const struct eddy_config_key *key, const void *target,
				      char buf[EDDYI_EXPECTED_SIZE]);

/* The base of relative paths, and the memory of strings. */
struct eddyi_config_keep {
	struct eddy_str folder; /* with a slash; empty for the current folder */
	struct eddyi_arena *arena;
};

/* Set the key's member in `target`.
 * Return: 0; -EINVAL if the value or an element of it, `*ret_bad`, is invalid; -ENOMEM. */
int eddyi_config_key_set(const struct eddy_config_key *key, const struct eddyi_toml *value,
			 const struct eddyi_config_keep *keep, void *target,
			 const struct eddyi_toml **ret_bad);

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
