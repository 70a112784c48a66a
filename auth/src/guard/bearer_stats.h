/* bearer_stats.h: what guards have done, counted. */
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

/* Offer the counts to who shows them. */
void eddyi_bearer_offer_figures(void);

#endif
