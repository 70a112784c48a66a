#include "bearer_stats.h"

#include <eddy/bearer.h>
#include <eddy/internal/figure.h>

#define REQUESTS(outcome)                                                                          \
	{                                                                                          \
		.name = "eddy_bearer_requests_total",                                              \
		.help = "Requests to guarded routes, by outcome.", .label = "outcome",             \
		.value = outcome                                                                   \
	}

static struct eddyi_figure figures[EDDYI_BEARER_COUNTED] = {
	[EDDYI_BEARER_LET_IN] = REQUESTS("let_in"),
	[EDDYI_BEARER_REFUSED] = REQUESTS("refused"),
	[EDDYI_BEARER_FORBIDDEN] = REQUESTS("forbidden"),
	[EDDYI_BEARER_UNKNOWN] = REQUESTS("unknown"),
	[EDDYI_BEARER_CACHED] = { .name = "eddy_bearer_tokens_cached_total",
				  .help = "Tokens found valid in the cache, without "
					  "verification." },
};

void eddyi_bearer_offer_figures(void)
{
	eddyi_figure_offer(figures, EDDYI_BEARER_COUNTED);
}

void eddyi_bearer_count(enum eddyi_bearer_counted what)
{
	eddyi_figure_add(&figures[what], 1);
}

struct eddy_bearer_stats eddy_bearer_stats(void)
{
	return (struct eddy_bearer_stats){
		.let_in = eddyi_figure_read(&figures[EDDYI_BEARER_LET_IN]),
		.refused = eddyi_figure_read(&figures[EDDYI_BEARER_REFUSED]),
		.forbidden = eddyi_figure_read(&figures[EDDYI_BEARER_FORBIDDEN]),
		.unknown = eddyi_figure_read(&figures[EDDYI_BEARER_UNKNOWN]),
		.cached = eddyi_figure_read(&figures[EDDYI_BEARER_CACHED]),
	};
}
