/* compress.h: the parts of the program `eddy-compress`. */
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

/* The result for one sibling. */
enum outcome { MADE, CURRENT, USELESS, FAILED, OUTCOMES };

struct work {
	char **paths;
	size_t count;
	bool force; /* make current siblings again */
	atomic_size_t next, done;
	atomic_ullong outcomes[OUTCOMES];
	atomic_ullong bytes,
		made_bytes; /* of the files, once for each new sibling; of the siblings */
};

extern const struct sibling siblings[];
extern const size_t sibling_count;

/* Make the siblings of one file that are outdated and worth it. Suspends. Failures are counted, and
 * printed on stderr. Return: 0, -ECANCELED. */
int compress_file(struct work *work, const char *path);

#endif
