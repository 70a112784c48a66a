/* section.h: the sections that an app knows, and reading a file into them. */
#ifndef EDDYI_SECTION_H
#define EDDYI_SECTION_H

#include "config_key.h"

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
