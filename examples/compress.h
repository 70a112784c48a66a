/* What the two files of eddy-compress share. */
#ifndef EDDY_EXAMPLES_COMPRESS_H
#define EDDY_EXAMPLES_COMPRESS_H

#include <eddy/encoder.h>
#include <eddy/runtime.h>
#include <stdatomic.h>

struct sibling {
	const char *suffix;
	const char *coding;
	struct eddy_encoder_options options;
};

/* What became of a file's sibling. */
enum outcome { MADE, CURRENT, USELESS, FAILED, OUTCOMES };

struct work {
	char **paths;
	size_t count;
	bool force; /* also what is newer than its file */
	atomic_size_t next, done;
	atomic_ullong outcomes[OUTCOMES];
	atomic_ullong bytes,
		made_bytes; /* of files that got a sibling, for each; of those siblings */
};

extern const struct sibling siblings[];
extern const size_t sibling_count;

/* Make the siblings of one file, as far as they are due and worth it. Suspends. What fails is said on
 * stderr, and counted. Return: 0, -ECANCELED. */
int compress_file(struct work *work, const char *path);

#endif
