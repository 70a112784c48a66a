/* bearer_stats.h: counters of guards. */
#ifndef EDDYI_BEARER_STATS_H
#define EDDYI_BEARER_STATS_H

enum eddyi_bearer_counted {
	EDDYI_BEARER_LET_IN,
	EDDYI_BEARER_REFUSED,
	EDDYI_BEARER_FORBIDDEN,
	EDDYI_BEARER_UNKNOWN,
	EDDYI_BEARER_CACHED,
	EDDYI_BEARER_COUNTED,
};

void eddyi_bearer_count(enum eddyi_bearer_counted what);

/* Register the counters as figures (eddy/figure.h), which metrics show. */
void eddyi_bearer_offer_figures(void);

#endif
