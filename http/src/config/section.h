/* section.h: the sections that an app knows, and what a file says in them. */
#ifndef EDDYI_SECTION_H
#define EDDYI_SECTION_H

#include "config_key.h"

/* One that was made known. */
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

/* How many mistakes of one file are kept, and told. */
#define EDDYI_BLAMES_MAX 100

/* One look at a file. */
struct eddyi_reading {
	const struct eddyi_section *sections;
	struct eddyi_config_keep keep;
	struct eddyi_arena *scratch; /* gone when the mistakes have been told */
	struct eddyi_blame *blames;  /* by line */
	unsigned blame_count;        /* those included that were not kept */
	bool out_of_memory;
};

/* Set what the tree says in the targets of the sections, and keep in `reading` what is wrong. */
void eddyi_sections_read(struct eddyi_reading *reading, const struct eddyi_toml *root);

#endif
