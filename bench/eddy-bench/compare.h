/* compare.h: what became slower from one result to another; `eddy-bench compare`.
 *
 * Where both have the peer that a cell's targets are held against, ratios are compared: they hold on any machine. Else it
 * is the figures themselves, which say nothing on another machine. So it is for the peer; where no ratio to it has changed
 * the other way, all have changed alike, and it is not judged. The rounds of the two results are no pairs.
 */
#ifndef EDDY_BENCH_COMPARE_H
#define EDDY_BENCH_COMPARE_H

#include "figures.h"

enum change_kind {
	CHANGE_NOT_JUDGED,
	CHANGE_WORSE, /* beyond noise, and by more than the tolerance */
	CHANGE_BETTER,
	CHANGE_NONE,
	CHANGE_KINDS,
};

/* One figure of one target. */
struct change {
	const struct cell *cell; /* of the new result, as all that is named here */
	const struct target *target;
	const struct figure *figure;
	const char *against; /* the peer, where ratios are compared; else NULL */
	double before, after;
	struct estimate quotient; /* after by before */
	enum change_kind kind;
	const char *why; /* of CHANGE_NOT_JUDGED: a few words, static */
};

struct comparison {
	struct change *changes;
	size_t count, room;
	bool is_other_machine;
};

/* "Beyond noise" is outside of an interval of 99.9 %: of some hundred figures a few lie outside of 95 % by chance. */
#define COMPARE_TAIL 0.0005

/* A change of less than this is none, however sure it is. */
#define COMPARE_TOLERANCE 0.03

/* Hold all that both have against each other; both outlive the comparison. */
struct comparison *compare_results(const struct result *before, const struct result *after,
				   double tolerance);
void comparison_free(struct comparison *comparison);

/* Run it; argv[0] is the word itself. Return: an exit status: 0, 1 where something is worse, 2 where nothing can be
 * compared. */
int compare_main(int argc, char **argv);

#endif
