/* verdict.h: whether a goal is met. */
#ifndef EDDY_BENCH_VERDICT_H
#define EDDY_BENCH_VERDICT_H

#include "figures.h"

/* "In noise": the interval has the limit in it, or there is none, so that another run may say otherwise. */
enum verdict {
	VERDICT_UNKNOWN,
	VERDICT_MISSED,
	VERDICT_MISSED_IN_NOISE,
	VERDICT_MET_IN_NOISE,
	VERDICT_MET,
	VERDICTS,
};

struct outcome {
	enum verdict verdict;
	const struct figure *figure; /* NULL where no figure is called so */
	struct estimate estimate;    /* of the figure, or held against the other target */
	bool has_aim, reaches_aim;
	bool is_clients; /* the client was saturated, with either of the two */
	const char *why; /* of VERDICT_UNKNOWN: a few words, static; else NULL */
};

/* Look whether a goal of the cell is met. Of several limits the worst verdict counts. */
struct outcome goal_outcome(const struct cell *cell, const struct goal *goal);

/* "met", "met, within noise", and so on. */
const char *verdict_title(enum verdict verdict);

#endif
